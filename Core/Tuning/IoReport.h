// What reading cost: the numbers that ParaView shows and pvbatch prints.
#pragma once

#include "Base/Communicator.h"
#include "Tuning/Timeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

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

}  // namespace patchio
