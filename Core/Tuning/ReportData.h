// The report as data: what panels draw and scripts evaluate.
#pragma once

#include "Tuning/IoReport.h"
#include "Tuning/RateFit.h"
#include "Tuning/ReadControl.h"

#include <deque>
#include <string>
#include <vector>

namespace patchio {

/// One of the last reads.
struct PastRead
{
  double Time = 0;  ///< of the step that was shown
  double OpenSeconds = 0, LocateSeconds = 0, ReadSeconds = 0, DecodeSeconds = 0, AssembleSeconds = 0;
  double Bytes = 0;
  double InFlight = 0;  ///< mean number of reads
  bool Cancelled = false;
};

/// What the last read cost, and those before.
struct ReportData
{
  static constexpr std::size_t MostPast = 50;

  IoReport Last;  ///< of all ranks
  std::string File;
  double Time = 0;   ///< of the step
  std::string Date;  ///< of the step, as people write it; empty where Time says all
  bool Cancelled = false;
  double WantedBytes = 0;             ///< all that the read was to bring; 0: not known
  std::vector<ThreadChange> Threads;  ///< reads in flight wanted, all ranks together
  StorageCurve Storage;
  std::deque<PastRead> Past;  ///< the last one is `Last`

  /// Takes `Last` into `Past`.
  void Remember();
  /// Mean number of reads in flight during the last read.
  double MeanInFlight() const;
  /// For people.
  std::string Text() const;
  /// JSON; times in seconds, sizes in bytes, rates in bytes a second. Documented in the user guide.
  std::string Json() const;
};

}  // namespace patchio
