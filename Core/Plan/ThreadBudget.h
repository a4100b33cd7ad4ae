// The number of I/O threads of a rank, NT, from the storage's best concurrency N* and the load NC by other
// programs.
#pragma once

namespace patchio {

/// The method that determines the number of threads NT.
enum class ThreadMode
{
  Fixed,        ///< the user gives NT
  FromStorage,  ///< from N* and NC, see ThreadsFromStorage()
  Automatic     ///< PatchIO chooses NT for each read, and adapts NT during the read
};

/// The user's settings in the group "Reading".
struct ThreadSettings
{
  ThreadMode Mode = ThreadMode::Fixed;
  int ThreadsPerRank = 4;  ///< NT of mode Fixed, >= 1
  int StorageConcurrency =
      32;             ///< N*: number of requests in flight, in total, at which the storage is fastest; >= 1
  int OtherLoad = 0;  ///< NC: number of requests that other programs keep in flight; >= 0
};

/// Returns NT of one rank (S. Liu et al., "Two Level Parallel Data Read Acceleration Method for Visualization
/// in Scientific Computing", manuscript of 2016, figure 8): 1 if NC >= N*, otherwise the rank's share of N* -
/// NC threads, but at least 1. If NP does not divide N* - NC, the shares of the first ranks are larger by 1.
/// processes: NP >= 1; rank: 0 .. NP-1.
int ThreadsFromStorage(int storageConcurrency, int otherLoad, int processes, int rank);

/// Returns NT of one rank under the settings; always >= 1. In mode Automatic, returns NT of mode Fixed.
int ThreadsOfRank(const ThreadSettings& settings, int processes, int rank);

}  // namespace patchio
