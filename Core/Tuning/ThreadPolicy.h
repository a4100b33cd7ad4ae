// How much of a storage a read takes: from what is known of the storage and what the user prefers.
#pragma once

#include "Tuning/Mount.h"
#include "Tuning/RateFit.h"
#include "Tuning/ThreadController.h"

namespace patchio {

/// What to do where others use the storage too. With C reads of others in flight, N of ours get
/// N/(N+C) F(N+C), which goes on rising past N + C = N*: what is fastest for one is not best for all.
enum class ThreadPolicy
{
  Polite,    ///< N = N* - NC, the rule of the two-level reading paper (its figure 8)
  Balanced,  ///< the fewest that give nearly the best rate
  Greedy     ///< whatever gives the best rate
};

/// "polite", "balanced", "greedy".
const char* NameOf(ThreadPolicy policy);

/// What is known of a storage before it is read.
struct StorageKnowledge
{
  int Concurrency = 0;  ///< N*; 0: unknown
  double Load = 0;      ///< NC; 0 where unknown, as a wrong guess would do harm
  MountClass Class = MountClass::Unknown;
  /// With how many reads Balanced and Greedy begin, of FairStart(); 0: F(N) is not known, so with N*.
  int BalancedStart = 0;
  int GreedyStart = 0;
};

/// The ranks that read.
struct ReadingJob
{
  int Ranks = 1;         ///< NP
  int Cores = 1;         ///< of a machine
  int MostOfRank = 256;  ///< NT cannot be more: by memory and by what a process may have
};

/// N* of a storage that nobody has measured: the cores, at least 4, in memory; four times the cores, from 8
/// to 32, on local disks; 16 for everything else.
int GuessedConcurrency(MountClass kind, int cores);

/// Reads in flight that the policy allows at most, all ranks together: N* - NC for Polite, at least one a
/// rank; else all that the ranks can have.
int MostInFlight(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job);

/// The fewest reads that get `share` (0..1) of the best that up to `most` reads can get beside `load` reads
/// of others: own rate N / (N + C) F(N + C), of which F is `fit`. 0 where the fit knows nothing.
int FairStart(const RateFit& fit, double load, int most, double share);

/// Fills in how Balanced and Greedy begin: where F(N) and NC are known, Balanced with the fewest, up to N*,
/// that give nearly the best rate; Greedy with those that give the best of all, past N* too. An unknown NC
/// counts as 0.
void SetStarts(StorageKnowledge& storage, const RateFit& fit);

/// With how many reads in flight to begin, and within which bounds to adapt them.
ControllerOptions ControllerFor(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job);

}  // namespace patchio
