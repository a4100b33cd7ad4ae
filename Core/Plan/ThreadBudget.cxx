#include "Plan/ThreadBudget.h"

#include <algorithm>
#include <cassert>

namespace patchio {

int ThreadsFromStorage(int storageConcurrency, int otherLoad, int processes, int rank)
{
  assert(processes >= 1 && rank >= 0 && rank < processes);
  if (otherLoad >= storageConcurrency) {
    return 1;
  }
  const int total = storageConcurrency - otherLoad;
  const int share = total / processes + (rank < total % processes ? 1 : 0);
  return std::max(1, share);
}

int ThreadsOfRank(const ThreadSettings& settings, int processes, int rank)
{
  switch (settings.Mode) {
    case ThreadMode::FromStorage:
      return ThreadsFromStorage(settings.StorageConcurrency, settings.OtherLoad, processes, rank);
    case ThreadMode::Fixed:
    case ThreadMode::Automatic:
      break;
  }
  return std::max(1, settings.ThreadsPerRank);
}

}  // namespace patchio
