// What exists as long as a reader: a series, the values that were read, the steps that are read ahead, and
// reports.
#pragma once

#include "Io/MemoryPool.h"
#include "Io/Progress.h"
#include "Read/LoadRequest.h"
#include "Read/OpenedSeries.h"
#include "Read/Prefetcher.h"
#include "Read/RankAgreement.h"
#include "Read/ReadRequest.h"
#include "Read/ReadThreads.h"
#include "Read/StepPlan.h"
#include "Read/StepRead.h"
#include "Read/ValueCache.h"
#include "Tuning/IoReport.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// Belongs to one reader, whose ranks call the same methods in the same order, but for StopPrefetch() and
/// Forget().
///
/// A step is shown in three calls: Locate(), Load(), and, when the caller has made its picture, Report().
/// Where the user stops one of the first two on any rank, it gives nothing, and the report says so already.
/// Both throw Error, the same on all ranks.
class ReadSession
{
public:
  /// mostThreads: threads of a rank at most.
  explicit ReadSession(int mostThreads) : Threads(mostThreads) {}

  OpenedSeries Series;
  ReadReports Reports;

  /// The files may have changed.
  void Forget();
  /// The user does something else than to play; see Prefetcher::Stop().
  void StopPrefetch() { this->Ahead.Stop(); }
  /// Other ranks will read.
  void ClearPrefetch() { this->Ahead.Clear(); }

  /// Collective. Opens the step and finds out which bytes this rank reads; or takes over what is read of it
  /// ahead, where that is what is wanted.
  std::optional<LocatedStep> Locate(
      const RankAgreement& ranks, std::size_t step, const ReadRequest& request, const ReadObserver& observer);
  /// Collective. Reads what was located for this request. Patches that turn out broken may change the blocks.
  std::optional<LoadedStep> Load(
      LocatedStep located, const ReadRequest& request, const ReadObserver& observer);
  /// Collective. The report of a step whose output is there.
  void Report(LoadedStep& loaded);

  /// Collective. Opens the series. If it may grow (SeriesOptions::LaterFiles), its last step is left out
  /// while it is not complete.
  void Open(const RankAgreement& ranks, const SeriesOptions& options);
  /// Collective. OpenedSeries::LookForNewSteps() between two reads; what is read ahead stays of use where it
  /// can.
  bool LookForNewSteps(const RankAgreement& ranks);
  /// Collective. Begins to read the steps that come next while this one is shown. What goes wrong with them
  /// is no error: they are read, or said to be broken, at their own turn, and their reports say why they were
  /// not read ahead.
  void Prefetch(const RankAgreement& ranks, const ReadRequest& request, const ReadObserver& observer);

private:
  StepOptions OptionsFor(const RankAgreement& ranks, const ReadRequest& request, const Catalog& catalog);
  LoadRequest RequestFor(const RankAgreement& ranks, const ReadRequest& request, const Catalog& catalog,
      const Int3& ghosts) const;
  std::optional<LocatedStep> LocateShown(
      const RankAgreement& ranks, const ReadRequest& request, const ReadObserver& observer);
  std::optional<LocatedStep> LocateBlocks(PlannedStep planned, const ReadObserver& observer);
  bool Holds(const RankAgreement& ranks, const ReadRequest& request, const PrefetchedStep& ahead);
  void WarnOfStep(const StepOptions& options, const ReadObserver& observer);
  void ReportStopped(const RankAgreement& ranks, const LoadRequest& request, const IoReport& report);
  std::string NotAheadText(const IoReport& report) const;
  PrefetchedStep LocateAhead(
      const RankAgreement& ranks, const ReadRequest& request, const ReadObserver& observer, std::size_t step);

  /// A step that should have been read ahead, and why it was not.
  struct Refusal
  {
    std::size_t Step = 0;
    std::string Reason;
  };

  ValuesOfInterest Values;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::shared_ptr<ValueCache> Cache = std::make_shared<ValueCache>();
  bool Verified = false;  ///< the values in the cache, where that can be
  ReadThreads Threads;
  Prefetcher Ahead;
  std::optional<Refusal> NotAhead;
  // For the report of the last read:
  ReadProgress Progress;
  std::string Note;  ///< why Skip By Value has no effect; else empty
};

}  // namespace patchio
