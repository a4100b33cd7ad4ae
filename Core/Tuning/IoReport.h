// The report of a read: costs of all ranks, as numbers and as text.
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

/// "Reading 1.2 of 4.8 GB, 850 MB/s, 4 s left", and "Reading 4.8 of 4.8 GB, decoding" when all bytes have
/// come. bytes: read so far, of bytesToRead; rate: bytes a second. The time is left out while nothing is
/// known of the rate, and all numbers where bytesToRead is 0: not known yet.
std::string ReadingText(double bytes, double bytesToRead, double rate);

/// The fraction, 0 to 1, that a progress bar shows beside ReadingText(). It agrees with the bytes of the
/// text. ofTasks: the fraction of the read tasks that are done, for reads whose bytes are not known.
double ReadingShare(double bytes, double bytesToRead, double ofTasks);

/// What a read cost on one rank, or, after Combine(), on all.
struct IoReport
{
  int Ranks = 1;
  int ThreadsMin =
      0;  ///< NT of the rank with fewest threads; where NT changed, its mean over the time of the read
  int ThreadsMax = 0;
  std::uint64_t Patches = 0;
  std::uint64_t Blocks = 0;        ///< grids made of them; 0: not made
  std::uint64_t Tasks = 0;         ///< read tasks <patch, variable> carried out
  std::uint64_t Requests = 0;      ///< reads given to the storage
  std::uint64_t Bytes = 0;         ///< read from the storage
  std::uint64_t CachedArrays = 0;  ///< arrays of blocks that were there already, or partly
  std::uint64_t CachedBytes = 0;   ///< of them, what was there
  int ArenaWidth = 0;            ///< TBB's slots for read tasks; combined: sum; 0: read by the calling thread
  int PeakInFlight = 0;          ///< most reads in flight at once; combined: sum over the ranks
  double OpenSeconds = 0;        ///< catalog: read on one rank and passed on
  double LocateSeconds = 0;      ///< finding where the bytes lie
  double ReadSeconds = 0;        ///< all tasks, from the first to the last
  double StorageSeconds = 0;     ///< of all tasks together, within ReadSeconds: waiting for the storage
  double DecodeSeconds = 0;      ///< the same: undoing filters, putting values into place
  int Ahead = 0;                 ///< 1: this read began before it was asked for; combined: on so many ranks
  std::uint64_t BytesAhead = 0;  ///< of Bytes, those that had been read when they were asked for
  double WaitSeconds = 0;        ///< from when they were asked for until they were there
  double AssembleSeconds = 0;    ///< making blocks; grids, blanking, handing arrays to VTK
  std::string Threads;           ///< how NT came about, in lines; empty: nothing to say
  std::string FilterThreads;     ///< of VTK's filters in a rank; empty: not ours to say
  std::string Metadata;          ///< where the metadata came from; empty: from the format
  std::vector<std::string> Notes;      ///< anything left out or unusual
  std::vector<TimelinePoint> Moments;  ///< of ReadSeconds; empty when nothing was read, or ahead

  /// 10^6 bytes a second; combined: all bytes over the slowest rank's time. 0 when nothing was read.
  double MegabytesPerSecond() const;

  /// The part of ReadSeconds that went into decoding, in the proportion of what the tasks did; the rest is
  /// waiting for the storage.
  double DecodePart() const;

  /// Several lines of plain text.
  std::string Text() const;
};

/// Collective. Sums and maxima over all ranks, the same on all; texts are those of rank 0.
IoReport Combine(const IoReport& mine, Communicator& comm);

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
