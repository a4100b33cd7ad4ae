// The share of a storage that a read takes, from the knowledge about the storage and from the user's policy.
#pragma once

#include "Tuning/Mount.h"
#include "Tuning/RateFit.h"
#include "Tuning/ThreadController.h"

namespace patchio {

/// The user's policy for a storage that other programs use, too. If other programs have C reads in flight, N
/// reads of PatchIO get the rate N/(N+C) F(N+C), which still rises beyond N + C = N*. The fastest number for
/// one reader is therefore not the best number for all.
enum class ThreadPolicy
{
  Polite,    ///< N <= N* - NC, the rule of S. Liu et al., see Plan/ThreadBudget.h
  Balanced,  ///< fewest reads with nearly the best rate
  Greedy     ///< fewest reads with the best rate
};

/// Returns "polite", "balanced" or "greedy".
const char* NameOf(ThreadPolicy policy);

/// The facts about a storage that are known before a read.
struct StorageKnowledge
{
  int Concurrency = 0;  ///< N*; 0: unknown
  double Load = 0;      ///< NC; 0 if unknown, because a wrong guess would do harm
  MountClass Class = MountClass::Unknown;
  /// Initial N of Balanced and Greedy, see SetInitialReads(). 0: F(N) is unknown or not reliable, and N
  /// begins with N*, or with GuessConcurrency() if N* is unknown.
  int BalancedStart = 0;
  int GreedyStart = 0;
};

/// The processes of a read: number of ranks, cores of a machine, and limit on the threads of a rank.
struct ReadingJob
{
  int RankCount = 1;            ///< NP
  int Cores = 1;                ///< number of cores of rank 0's machine
  int MostThreadsOfRank = 256;  ///< greatest NT, limited by memory and by the limits of a process
};

/// Returns a guess of N* for a storage that was not measured: for memory the number of cores, at least 4; for
/// local disks four times the cores, from 8 to 32; otherwise 16.
int GuessConcurrency(MountClass mountClass, int cores);

/// Returns the greatest number of reads in flight that the policy allows, all ranks together: N* - NC for
/// Polite if N* is known, but at least one per rank; otherwise, as many as the ranks can have.
int MostInFlight(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job);

/// Returns the smallest number of reads that reaches `fraction` (0..1) of the best rate of 1 to `most` reads
/// (`most` up to 2^14), while other programs have `load` reads in flight. The rate of N reads is N / (N +
/// load) F(N + load), with F from `fit`. Returns 0 if the fit is unknown.
int FewestReads(const RateFit& fit, double load, int most, double fraction);

/// Sets the initial numbers of Balanced and Greedy from F(N) and NC. Balanced begins with the fewest reads
/// that give 98 % of the best rate, but at most N*; Greedy begins with the fewest reads that give 99.5 %,
/// even beyond N*. An unknown NC counts as 0. The numbers are 0 if the fit is unknown.
void SetInitialReads(StorageKnowledge& storage, const RateFit& fit);

/// Returns the initial number of reads in flight, and the bounds and the tolerance for adapting this number.
ControllerOptions ControllerOptionsFor(
    const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job);

}  // namespace patchio
