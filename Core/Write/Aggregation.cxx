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

std::vector<Run> RunsOf(const std::vector<std::uint64_t>& volumes)
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

/// Returns the volume of the group of a run: the volume of the run or, for an edge, that of its neighbours.
std::uint64_t GroupOf(const std::vector<Run>& runs, std::size_t run)
{
  std::uint64_t volume = runs[run].Volume;
  for (const std::size_t other : {run - 1, run + 1}) {  // run - 1 wraps around at the first run
    if (other < runs.size() && runs[other].Count >= runs[run].Count) {
      volume = std::max(volume, runs[other].Volume);
    }
  }
  return volume;
}

/// Divides the ranks of a group into at most `writers` runs of neighbours, each with one writer. Returns the
/// number of writers with data.
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

std::uint64_t RoundUp(std::uint64_t number, std::uint64_t by)
{
  return (number + by - 1) / by;
}

}  // namespace

Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t little)
{
  Aggregation plan;
  plan.WriterOf.assign(volumes.size(), -1);
  const std::vector<Run> runs = RunsOf(volumes);
  std::map<std::uint64_t, RankGroup, std::greater<>> groups;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs[run].Count && runs[run].Volume > 0; ++i) {
      RankGroup& group = groups[GroupOf(runs, run)];
      group.Ranks.push_back(runs[run].First + i);
      group.Bytes += runs[run].Volume;
    }
  }
  if (groups.empty()) {
    return plan;
  }
  plan.Target = groups.begin()->first;
  while (plan.Cut < 8 && plan.Target * 2 <= little) {
    plan.Cut *= 2;
    plan.Target *= 2;
  }
  for (auto& [volume, group] : groups) {
    group.Volume = volume;
    group.Writers = ChooseWriters(group, RoundUp(group.Bytes, plan.Target), volumes, plan.WriterOf);
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

int StepsAtOnce(const Aggregation& plan, std::uint64_t wanted, int most)
{
  auto steps = static_cast<std::uint64_t>(std::max(most, 1));
  for (const RankGroup& group : plan.Groups) {
    steps = std::min(steps, RoundUp(wanted * group.Writers, group.Bytes));
  }
  return static_cast<int>(std::max<std::uint64_t>(steps, 1));
}

Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringNeeds& needs)
{
  constexpr std::uint64_t mostSteps = 1 << 20;
  constexpr std::uint64_t requestsOfThread = 4;  // enough to make the pauses between requests unimportant
  Gathering result;
  result.Plan = PlanAggregation(volumes);
  const std::vector<std::uint64_t> written = WrittenBytes(result.Plan, volumes);
  const auto ranks = static_cast<int>(volumes.size());
  const int writers = ranks - static_cast<int>(std::count(written.begin(), written.end(), 0u));
  result.Threads = std::clamp(needs.Threads * ranks, 1, MostThreads * std::max(writers, 1));
  // Memory per step: a rank holds its values and a copy in messages, the bytes that it writes, the bytes of
  // its next write, and the messages with these.
  result.Step = 2 * *std::max_element(volumes.begin(), volumes.end()) +
                3 * *std::max_element(written.begin(), written.end());
  const auto most =
      static_cast<int>(std::min(mostSteps, needs.Memory / std::max<std::uint64_t>(result.Step, 1)));
  const std::uint64_t request = LimitsOf(needs.Storage.value_or(StorageModel()), ~std::uint64_t(0), 1).Bytes;
  result.Steps = needs.Steps > 0 ? needs.Steps
                 : needs.Storage
                     ? StepsAtOnce(result.Plan,
                           requestsOfThread * RoundUp(result.Threads, std::max(writers, 1)) * request, most)
                     : 1;
  result.Steps = std::min(result.Steps, most);
  if (result.Steps > needs.Period) {
    result.Steps -= result.Steps % needs.Period;
  }
  return result;
}

int Gathering::ThreadsFor(std::uint64_t bytes, std::uint64_t all) const
{
  const double share = static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(all, 1));
  return std::clamp(static_cast<int>(std::lround(share * this->Threads)), 1, MostThreads);
}

}  // namespace patchio::output
