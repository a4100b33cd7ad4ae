// The report of a read: its cost on all ranks, as numbers and as text.
#pragma once

#include "Base/Communicator.h"
#include "Tuning/RateFit.h"
#include "Tuning/ReadControl.h"
#include "Tuning/Timeline.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace patchio {

/// Returns the text of a progress bar: "Reading 1.2 of 4.8 GB, 850 MB/s, 5 s left", or "Reading 4.8 of 4.8
/// GB, decoding" when all bytes were read. bytes, bytesToRead: read so far and in total; rate: bytes per
/// second. Omits rate and time if `rate` or `bytes` is 0, and all numbers if `bytesToRead` is 0 (not known
/// yet).
std::string ReadingText(double bytes, double bytesToRead, double rate);

/// Returns the fraction, 0 to 1, of the progress bar that shows ReadingText(). taskFraction: finished
/// fraction of the read tasks, which is the result if `bytesToRead` is 0.
double ReadingFraction(double bytes, double bytesToRead, double taskFraction);

/// The cost of a read on one rank, or on all ranks after CombineOverRanks().
struct IoReport
{
  int Ranks = 1;
  int ThreadsMin = 0;  ///< NT of the rank with the fewest threads; if NT changed, its mean over the read
  int ThreadsMax = 0;
  std::uint64_t Patches = 0;
  std::uint64_t Blocks = 0;        ///< number of grids; 0: the read made no grids
  std::uint64_t Tasks = 0;         ///< read tasks <patch, variable> that were carried out
  std::uint64_t Requests = 0;      ///< requests to the storage
  std::uint64_t Bytes = 0;         ///< bytes read from the storage
  std::uint64_t CachedArrays = 0;  ///< arrays of blocks that were entirely or partly in the cache
  std::uint64_t CachedBytes = 0;   ///< bytes found in the cache
  /// Greatest number of slots of TBB arenas that ran read tasks at once; combined: sum over the ranks; 0: the
  /// calling thread carried out the tasks.
  int ArenaWidth = 0;
  int PeakInFlight = 0;      ///< most reads in flight at once; combined: sum over the ranks
  double OpenSeconds = 0;    ///< time to open series and step, including broadcasts
  double LocateSeconds = 0;  ///< time to locate the bytes, including an index that was built
  double ReadSeconds = 0;    ///< duration of RankRead::Read(); prefetch: from the first to the last task
  /// Time in which the tasks waited for the storage, summed over all tasks; may exceed ReadSeconds.
  double StorageSeconds = 0;
  /// Time in which the tasks undid filters and placed values, summed over all tasks.
  double DecodeSeconds = 0;
  int Prefetches = 0;  ///< 1: the read was a prefetch; combined: number of ranks with a prefetch
  std::uint64_t PrefetchedBytes = 0;  ///< bytes that had been read when the step was requested
  double WaitSeconds = 0;             ///< duration of RankRead::Read(), in which the caller waits
  double AssembleSeconds = 0;         ///< time to plan blocks and to make the output from the arrays
  std::string ThreadsText;            ///< lines about the choice of NT; may be empty
  std::string FilterThreads;       ///< threads of VTK's filters per rank; empty if PatchIO does not set them
  std::string Metadata;            ///< origin of the metadata; empty: from the format
  std::vector<std::string> Notes;  ///< notes about omitted data and unusual conditions
  /// Progress over ReadSeconds; empty for a prefetch, and if no read began.
  std::vector<TimelinePoint> Timeline;

  /// Returns the rate in 10^6 bytes per second; combined: all bytes over the time of the slowest rank.
  /// Returns 0 if nothing was read.
  double MegabytesPerSecond() const;

  /// Returns the part of ReadSeconds that was spent on decoding, in seconds: ReadSeconds x DecodeSeconds /
  /// (StorageSeconds + DecodeSeconds).
  double DecodeWallSeconds() const;

  /// Returns the report as several lines of plain text.
  std::string Text() const;
};

/// Returns, on all ranks, a report with sums, least and greatest values over all ranks, with the notes of all
/// ranks and the other texts of the calling rank. Omits notes that differ from those of a lower rank only in
/// their numbers. Collective: every rank of the communicator calls it.
IoReport CombineOverRanks(const IoReport& report, Communicator& ranks);

/// The summary of a read. DecodeSeconds is a part of ReadSeconds, see IoReport::DecodeWallSeconds().
struct PastRead
{
  double Time = 0;  ///< time of the displayed step
  double OpenSeconds = 0, LocateSeconds = 0, ReadSeconds = 0, DecodeSeconds = 0, AssembleSeconds = 0;
  double Bytes = 0;
  double InFlight = 0;  ///< mean number of reads in flight
  bool Cancelled = false;
};

/// The data of the report: the last read, and summaries of the last MostPastReads reads.
struct ReportData
{
  static constexpr std::size_t MostPastReads = 50;

  IoReport Last;  ///< combined over all ranks
  std::string File;
  double Time = 0;   ///< time of the step
  std::string Date;  ///< date of the step as text for the user; empty if the data have no dates
  bool Cancelled = false;
  double BytesToRead = 0;             ///< total number of bytes of the read; 0: unknown
  std::vector<ThreadChange> Threads;  ///< requested number of reads in flight, all ranks together
  StorageCurve Storage;
  std::deque<PastRead> PastReads;  ///< oldest first; the last entry is the summary of `Last`

  /// Appends a summary of `Last` to `PastReads`, and drops the oldest entry if `PastReads` has more than
  /// MostPastReads entries.
  void AppendPastRead();
  /// Returns the mean number of reads in flight during the last read.
  double MeanInFlight() const;
  /// Returns the report as plain text; for a cancelled read, a text that says how much was read.
  std::string Text() const;
  /// Returns the report as JSON: times in seconds, sizes in bytes, rates in bytes per second. The user guide
  /// documents the members.
  std::string Json() const;
};

}  // namespace patchio
