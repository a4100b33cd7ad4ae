// How many threads an update reads with, in all thread modes, and what is said of it.
#pragma once

#include "Plan/ThreadBudget.h"
#include "Read/LoadRequest.h"
#include "Read/RankAgreement.h"
#include "Tuning/AutomaticThreads.h"
#include "Tuning/IoReport.h"
#include "Tuning/ReadControl.h"
#include "Tuning/ThreadPolicy.h"

#include <string>
#include <vector>

namespace patchio {

/// What the number of threads was, and why.
struct ThreadsUsed
{
  int Concurrency = 0;                ///< N*; 0: not known or not asked
  double Load = 0;                    ///< NC; 0 where not known
  std::vector<ThreadChange> Changes;  ///< reads in flight wanted, all ranks together
  std::string Text;                   ///< where all this is from, in lines
  StorageCurve Storage;               ///< F(N), on rank 0
  int MostOfRank = 0;                 ///< the limit
};

/// Belongs to one reader.
class ReadThreads
{
public:
  /// mostOfRank: threads of a rank at most.
  explicit ReadThreads(int mostOfRank) : MostOfRank(mostOfRank) {}

  /// What the user has set, for all that follows. `policy` counts in the mode Automatic.
  void Set(const ThreadSettings& settings, ThreadPolicy policy);

  /// Threads of a rank before a read has begun, from 1 to the limit.
  int OfRank(const RankAgreement& ranks, int rank) const;

  /// Collective, before a read of files beside `path`: in the mode Automatic, how many threads the request
  /// gets, and what adapts them.
  void Begin(const RankAgreement& ranks, const std::string& path, LoadRequest& request);
  /// Collective, after the read of that request.
  void End(const LoadRequest& request);

  /// The threads of a request that is read ahead; nobody is there to adapt them. After a Begin() in this
  /// mode.
  void ChooseAhead(const RankAgreement& ranks, LoadRequest& request);
  /// Tasks go on by themselves from now on: see AutomaticThreads.
  void ReadsGoOn() { this->Automatic.ReadsGoOn(); }

  /// After the read of the request.
  ThreadsUsed Used(const RankAgreement& ranks, const LoadRequest& request);
  /// What is wrong with profiles, where the request was decided from them; see AutomaticThreads::Notes().
  std::vector<std::string> Notes(const LoadRequest& request) const;

private:
  ThreadsUsed UsedAutomatically(const LoadRequest& request);
  ThreadsUsed UsedAsSet(const RankAgreement& ranks) const;

  const int MostOfRank;
  ThreadSettings Settings;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  AutomaticThreads Automatic;
};

}  // namespace patchio
