// The number of threads of a read, in all thread modes, and its report.
#pragma once

#include "Base/Communicator.h"
#include "Plan/ThreadBudget.h"
#include "Read/LoadRequest.h"
#include "Tuning/AutomaticThreads.h"
#include "Tuning/IoReport.h"
#include "Tuning/ReadControl.h"
#include "Tuning/ThreadPolicy.h"

#include <string>
#include <vector>

namespace patchio {

/// The number of threads of a read and its origin.
struct ThreadsUsed
{
  std::vector<ThreadChange> Changes;  ///< intended reads in flight, of all ranks together
  std::string Text;                   ///< the sources of these numbers, in lines
  StorageCurve Storage;               ///< the known facts about the storage; F(N) on rank 0 only
  int MostThreadsOfRank = 0;          ///< limit on the threads of a rank
};

/// The thread settings of one reader.
class ReadThreads
{
public:
  /// `mostThreadsOfRank`: limit on the threads of a rank.
  explicit ReadThreads(int mostThreadsOfRank) : MostThreadsOfRank(mostThreadsOfRank) {}

  /// Sets the user's choice for all further reads. `policy`: for the mode Automatic.
  void Set(const ThreadSettings& settings, ThreadPolicy policy);

  /// Returns the number of threads of `rank` according to the user's settings, from 1 to the limit. In the
  /// mode Automatic, Begin() chooses another number. Not collective.
  int OfRank(Communicator& ranks, int rank) const;

  /// Prepares a read from the storage of `path`. In the mode Automatic, sets request.Threads,
  /// request.Control, which adapts this number, and, if the storage's profile has the cost of a request,
  /// request.Storage. Does nothing in other modes. Collective: every rank of the communicator calls it.
  void Begin(Communicator& ranks, const std::string& path, LoadRequest& request);
  /// Ends the read of a request for which Begin() was called. Collective: every rank of the communicator
  /// calls it.
  void End(const LoadRequest& request);

  /// In the mode Automatic, sets request.Threads and request.Storage for a prefetch as at the end of the
  /// previous read. Call Begin() first.
  void SetPrefetchThreads(Communicator& ranks, LoadRequest& request);
  /// Records that tasks read in the background from now on; see AutomaticThreads.
  void IgnoreOwnReads() { this->Automatic.IgnoreOwnReads(); }

  /// Returns the threads that were used. Call this method after the read of the request.
  ThreadsUsed Used(Communicator& ranks, const LoadRequest& request);
  /// Returns AutomaticThreads::Notes() if Begin() has set the controller of `request`; otherwise nothing.
  std::vector<std::string> Notes(const LoadRequest& request) const;

private:
  ThreadsUsed UsedAutomatically(const LoadRequest& request);
  ThreadsUsed UsedAsSet(Communicator& ranks) const;

  const int MostThreadsOfRank;
  ThreadSettings Settings;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  AutomaticThreads Automatic;
};

}  // namespace patchio
