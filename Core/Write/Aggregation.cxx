#include "Write/Aggregation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace patchio::output {
namespace {

/// Limit on the threads of one writer.
constexpr int MostThreads = 64;

/// Neighbouring ranks of equal volume.
struct Run
{
  std::uint64_t Volume = 0;
  int First = 0, Count = 0;
};

std::vector<Run> SplitIntoRuns(const std::vector<std::uint64_t>& volumes)
{
  std::vector<Run> runs;
  for (std::size_t rank = 0; rank < volumes.size(); ++rank) {
    if (runs.empty() || runs.back().Volume != volumes[rank]) {
      runs.push_back({volumes[rank], static_cast<int>(rank), 0});
    }
    ++runs.back().Count;
  }
  return runs;
}

/// Returns the volume of the group to which a run belongs: the largest volume among the run and the adjacent
/// runs that have at least as many ranks as the run.
std::uint64_t GroupVolume(const std::vector<Run>& runs, std::size_t run)
{
  std::uint64_t volume = runs[run].Volume;
  for (const std::size_t other : {run - 1, run + 1}) {  // run - 1 wraps around at the first run
    if (other < runs.size() && runs[other].Count >= runs[run].Count) {
      volume = std::max(volume, runs[other].Volume);
    }
  }
  return volume;
}

/// Divides group.Ranks into at most `writers` consecutive parts, and sets `writerOf` of the ranks of each
/// part to the rank of the part with the most bytes. Returns the number of parts.
int ChooseWriters(const RankGroup& group, std::uint64_t writers, const std::vector<std::uint64_t>& volumes,
    std::vector<int>& writerOf)
{
  std::map<std::uint64_t, std::vector<int>> shares;
  std::uint64_t before = 0;
  for (const int rank : group.Ranks) {
    const double middle = static_cast<double>(before) + 0.5 * static_cast<double>(volumes[rank]);
    const auto share =
        static_cast<std::uint64_t>(middle * static_cast<double>(writers) / static_cast<double>(group.Bytes));
    shares[std::min(share, writers - 1)].push_back(rank);
    before += volumes[rank];
  }
  for (const auto& [number, ranks] : shares) {
    const int fullest =
        *std::max_element(ranks.begin(), ranks.end(), [&](int a, int b) { return volumes[a] < volumes[b]; });
    for (const int rank : ranks) {
      writerOf[rank] = fullest;
    }
  }
  return static_cast<int>(shares.size());
}

std::uint64_t DivideRoundingUp(std::uint64_t number, std::uint64_t divisor)
{
  return (number + divisor - 1) / divisor;
}

}  // namespace

Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t smallBytes)
{
  Aggregation plan;
  plan.WriterOf.assign(volumes.size(), -1);
  const std::vector<Run> runs = SplitIntoRuns(volumes);
  std::map<std::uint64_t, RankGroup, std::greater<>> groups;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs[run].Count && runs[run].Volume > 0; ++i) {
      RankGroup& group = groups[GroupVolume(runs, run)];
      group.Ranks.push_back(runs[run].First + i);
      group.Bytes += runs[run].Volume;
    }
  }
  if (groups.empty()) {
    return plan;
  }
  plan.Target = groups.begin()->first;
  while (plan.Reduction < 8 && plan.Target * 2 <= smallBytes) {
    plan.Reduction *= 2;
    plan.Target *= 2;
  }
  for (auto& [volume, group] : groups) {
    group.Volume = volume;
    group.Writers = ChooseWriters(group, DivideRoundingUp(group.Bytes, plan.Target), volumes, plan.WriterOf);
    plan.Groups.push_back(std::move(group));
  }
  return plan;
}

std::vector<std::uint64_t> WrittenBytes(const Aggregation& plan, const std::vector<std::uint64_t>& volumes)
{
  std::vector<std::uint64_t> bytes(volumes.size(), 0);
  for (std::size_t rank = 0; rank < volumes.size(); ++rank) {
    if (plan.WriterOf[rank] >= 0) {
      bytes[plan.WriterOf[rank]] += volumes[rank];
    }
  }
  return bytes;
}

int StepsAtOnce(const Aggregation& plan, std::uint64_t bytes, int mostSteps)
{
  auto steps = static_cast<std::uint64_t>(std::max(mostSteps, 1));
  for (const RankGroup& group : plan.Groups) {
    steps = std::min(steps, DivideRoundingUp(bytes * group.Writers, group.Bytes));
  }
  return static_cast<int>(std::max<std::uint64_t>(steps, 1));
}

Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringParameters& parameters)
{
  constexpr std::uint64_t mostSteps = 1 << 20;
  constexpr std::uint64_t requestsOfThread = 4;  // enough to make the pauses between requests unimportant
  Gathering result;
  result.Plan = PlanAggregation(volumes);
  const std::vector<std::uint64_t> written = WrittenBytes(result.Plan, volumes);
  const auto rankCount = static_cast<int>(volumes.size());
  const int writers = rankCount - static_cast<int>(std::count(written.begin(), written.end(), 0u));
  result.Threads = std::clamp(parameters.Threads * rankCount, 1, MostThreads * std::max(writers, 1));
  // For each step, a rank stores the values twice (once in messages), and the bytes to write three times: in
  // the write in progress, in the next write, and in the messages with the next write.
  result.StepBytes = 2 * *std::max_element(volumes.begin(), volumes.end()) +
                     3 * *std::max_element(written.begin(), written.end());
  const auto most =
      static_cast<int>(std::min(mostSteps, parameters.Memory / std::max<std::uint64_t>(result.StepBytes, 1)));
  const std::uint64_t request =
      LimitsOf(parameters.Storage.value_or(StorageModel()), ~std::uint64_t(0), 1).Bytes;
  result.Steps =
      parameters.Steps > 0 ? parameters.Steps
      : parameters.Storage
          ? StepsAtOnce(result.Plan,
                requestsOfThread * DivideRoundingUp(result.Threads, std::max(writers, 1)) * request, most)
          : 1;
  result.Steps = std::min(result.Steps, most);
  if (result.Steps > parameters.Period) {
    result.Steps -= result.Steps % parameters.Period;
  }
  return result;
}

int Gathering::ThreadsFor(std::uint64_t bytes, std::uint64_t totalBytes) const
{
  const double share =
      static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(totalBytes, 1));
  return std::clamp(static_cast<int>(std::lround(share * this->Threads)), 1, MostThreads);
}

}  // namespace patchio::output
