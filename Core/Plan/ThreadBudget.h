// How many I/O threads a rank uses: NT from the storage's best concurrency N* and the load NC of others.
#pragma once

namespace patchio {

/// How the number of threads is chosen.
enum class ThreadMode
{
  Fixed,        ///< the user gives NT
  FromStorage,  ///< from N* and NC by the rule below
  Automatic     ///< PatchIO finds out N* and NC; before it has, NT is as in the mode Fixed
};

/// What the user set in the group "Two-level parallel reading".
struct ThreadSettings
{
  ThreadMode Mode = ThreadMode::Fixed;
  int ThreadsPerRank = 4;  ///< NT of mode Fixed, >= 1
  int StorageConcurrency =
      32;             ///< N*: requests in flight, on the whole system, at which the storage is fastest; >= 1
  int OtherLoad = 0;  ///< NC: requests that everybody else keeps in flight; >= 0
};

/// NT of one rank by the rule of the two-level reading paper (its figure 8): NT = 1 when NC >= N*, else
/// max(1, (N* - NC) / NP); the remainder of the division goes one each to the first ranks.
/// processes: NP >= 1; rank: 0 .. NP-1.
int ThreadsFromStorage(int storageConcurrency, int otherLoad, int processes, int rank);

/// NT of one rank under the settings; always >= 1.
int ThreadsOfRank(const ThreadSettings& settings, int processes, int rank);

}  // namespace patchio
