#include "Storage/ThreadPolicy.h"

#include <algorithm>
#include <cmath>

namespace patchio {

const char* NameOf(ThreadPolicy policy)
{
  switch (policy) {
    case ThreadPolicy::Polite:
      return "polite";
    case ThreadPolicy::Greedy:
      return "greedy";
    case ThreadPolicy::Balanced:
      break;
  }
  return "balanced";
}

int GuessedConcurrency(MountClass kind, int cores)
{
  switch (kind) {
    case MountClass::Memory:
      return std::max(cores, 4);
    case MountClass::LocalDisk:
      return std::clamp(4 * cores, 8, 32);
    default:
      return 16;
  }
}

int MostInFlight(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job)
{
  const int most = job.Ranks * std::max(job.MostOfRank, 1);
  if (policy != ThreadPolicy::Polite || storage.Concurrency <= 0) {
    return most;
  }
  const int left = static_cast<int>(std::lround(std::max(0.0, storage.Concurrency - storage.Load)));
  return std::clamp(left, job.Ranks, most);
}

ControllerOptions ControllerFor(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job)
{
  const int best =
      storage.Concurrency > 0 ? storage.Concurrency : GuessedConcurrency(storage.Class, job.Cores);
  ControllerOptions options;
  options.Granularity = job.Ranks;
  options.Least = job.Ranks;
  options.Most = MostInFlight(storage, policy, job);
  options.Start = std::clamp(best, options.Least, options.Most);
  options.Tolerance = policy == ThreadPolicy::Greedy ? 0.005 : 0.03;
  return options;
}

}  // namespace patchio
