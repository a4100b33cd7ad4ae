// What the reads of a session cost.
#pragma once

#include "Read/OpenedSeries.h"
#include "Read/RankAgreement.h"
#include "Read/ReadThreads.h"
#include "Tuning/IoReport.h"
#include "Tuning/ReportData.h"

#include <string>

namespace patchio {

/// The report of the last read, and in short those before. The same on all ranks.
class ReadReports
{
public:
  /// How a read ended.
  struct Outcome
  {
    bool Cancelled = false;
    double WantedBytes = 0;  ///< all that the read was to bring; 0: not known
    std::string Warning;     ///< becomes a note; may be empty
  };

  /// Collective. Adds up the reports of all ranks for the step that is shown.
  void Add(const RankAgreement& ranks, IoReport mine, const ThreadsUsed& threads, OpenedSeries& series,
      const Outcome& outcome);
  /// The last read failed: it has no text.
  void ClearText() { this->LastText.clear(); }

  /// In lines; empty where there is none.
  const std::string& Text() const { return this->LastText; }
  /// The same in numbers; empty before the first.
  std::string Json() const { return this->Data.Past.empty() ? std::string() : this->Data.Json(); }

private:
  std::string LastText;
  ReportData Data;
  bool ToldOfSidecars = false;  ///< once is enough
};

}  // namespace patchio
