#include "Tuning/ThreadPolicy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace patchio {
namespace {

/// Fraction of the rate that Greedy gives up for fewer reads: less than any noise.
constexpr double GreedyTolerance = 0.005;
/// Fraction of the rate that Balanced and Polite give up: the noise of windows on the emulated storage.
constexpr double BalancedTolerance = 0.03;
/// Fraction of the best rate with which Balanced begins, as in the definition of N* in RateFit.
constexpr double BalancedShare = 0.98;
/// Reads in flight on an unknown storage. If N* is between 4 and 64, this number is wrong by a factor of at
/// most 4, which the controller corrects within a minute (simulated: in 99.5 % of reads).
constexpr int UnknownStorage = 16;
/// Least number of reads for a file system in memory: two cores reached the same rate with 2 to 16 reads.
constexpr int MemoryLeast = 4;
///@{
/// Bounds for local disks. The rate of a virtual disk, not cached, stopped rising at 4 to 64 reads in flight
/// (1.3 GB/s with 1, 1.6 to 2.0 GB/s with 4 or more). Within these bounds, there are four reads per core.
constexpr int DiskLeast = 8;
constexpr int DiskMost = 32;
///@}

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

int GuessConcurrency(MountClass mountClass, int cores)
{
  switch (mountClass) {
    case MountClass::Memory:
      return std::max(cores, MemoryLeast);
    case MountClass::LocalDisk:
      return std::clamp(4 * cores, DiskLeast, DiskMost);
    default:
      return UnknownStorage;
  }
}

int MostInFlight(const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job)
{
  const int most = job.RankCount * std::max(job.MostThreadsOfRank, 1);
  if (policy != ThreadPolicy::Polite || storage.Concurrency <= 0) {
    return most;
  }
  const int left = static_cast<int>(std::lround(std::max(0.0, storage.Concurrency - storage.Load)));
  return std::clamp(left, job.RankCount, most);
}

int FewestReads(const RateFit& fit, double load, int most, double fraction)
{
  if (!fit.Known()) {
    return 0;
  }
  std::vector<double> rates;
  for (int n = 1; n <= std::clamp(most, 1, 1 << 14); ++n) {
    rates.push_back(n / (n + load) * fit.At(n + load));
  }
  const double enough = fraction * *std::max_element(rates.begin(), rates.end());
  const auto first = std::find_if(rates.begin(), rates.end(), [&](double rate) { return rate >= enough; });
  return static_cast<int>(first - rates.begin()) + 1;
}

void SetInitialReads(StorageKnowledge& storage, const RateFit& fit)
{
  const double load = std::max(0.0, storage.Load);
  storage.BalancedStart = std::min(FewestReads(fit, load, fit.Most(), BalancedShare), storage.Concurrency);
  storage.GreedyStart = FewestReads(fit, load, fit.Most(), 1 - GreedyTolerance);
}

ControllerOptions ControllerOptionsFor(
    const StorageKnowledge& storage, ThreadPolicy policy, const ReadingJob& job)
{
  int best = storage.Concurrency > 0 ? storage.Concurrency : GuessConcurrency(storage.Class, job.Cores);
  if (policy == ThreadPolicy::Balanced && storage.BalancedStart > 0) {
    best = storage.BalancedStart;
  } else if (policy == ThreadPolicy::Greedy && storage.GreedyStart > 0) {
    best = storage.GreedyStart;
  }
  ControllerOptions options;
  options.Granularity = job.RankCount;
  options.Least = job.RankCount;
  options.Most = MostInFlight(storage, policy, job);
  options.Start = std::clamp(best, options.Least, options.Most);
  options.Tolerance = policy == ThreadPolicy::Greedy ? GreedyTolerance : BalancedTolerance;
  return options;
}

}  // namespace patchio
