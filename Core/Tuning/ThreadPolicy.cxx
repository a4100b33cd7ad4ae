#include "Tuning/ThreadPolicy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace patchio {
namespace {

constexpr double GreedyTolerance = 0.005;

}  // namespace

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

int FairStart(const RateFit& fit, double load, int most, double share)
{
  if (!fit.Known()) {
    return 0;
  }
  std::vector<double> rates;
  for (int n = 1; n <= std::clamp(most, 1, 1 << 14); ++n) {
    rates.push_back(n / (n + load) * fit.At(n + load));
  }
  const double enough = share * *std::max_element(rates.begin(), rates.end());
  const auto first = std::find_if(rates.begin(), rates.end(), [&](double rate) { return rate >= enough; });
  return static_cast<int>(first - rates.begin()) + 1;
}

void SetStarts(StorageKnowledge& storage, const RateFit& fit)
{
  const double load = std::max(0.0, storage.Load);
  // N* itself is the fewest that give 0.98 of the best rate alone.
  storage.BalancedStart = std::min(FairStart(fit, load, fit.Most(), 0.98), storage.Concurrency);
  storage.GreedyStart = FairStart(fit, load, fit.Most(), 1 - GreedyTolerance);
}

ControllerOptions ControllerFor(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job)
{
  int best = storage.Concurrency > 0 ? storage.Concurrency : GuessedConcurrency(storage.Class, job.Cores);
  if (policy == ThreadPolicy::Balanced && storage.BalancedStart > 0) {
    best = storage.BalancedStart;
  } else if (policy == ThreadPolicy::Greedy && storage.GreedyStart > 0) {
    best = storage.GreedyStart;
  }
  ControllerOptions options;
  options.Granularity = job.Ranks;
  options.Least = job.Ranks;
  options.Most = MostInFlight(storage, policy, job);
  options.Start = std::clamp(best, options.Least, options.Most);
  options.Tolerance = policy == ThreadPolicy::Greedy ? GreedyTolerance : 0.03;
  return options;
}

}  // namespace patchio
