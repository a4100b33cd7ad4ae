// Tests the plan of the writing ranks with the five cases of the paper, and compares random volumes with
// brute force.
#include "Write/Aggregation.h"
#include "Write/Shuffle.h"

#include "TestTools.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace patchio::output {
namespace {

using Volumes = std::vector<std::uint64_t>;

constexpr std::uint64_t KB = 1024;

int WritersOf(const Aggregation& plan)
{
  std::set<int> writers(plan.WriterOf.begin(), plan.WriterOf.end());
  writers.erase(-1);
  return static_cast<int>(writers.size());
}

/// Adds the bytes of a cuboid that covers `planes` of 512 planes, from plane `first` on, to the ranks'
/// volumes.
void AddCuboid(Volumes& volumes, int first, int planes, std::uint64_t bytesOfPlane)
{
  for (int plane = first; plane < first + planes; ++plane) {
    volumes[plane / 2] += bytesOfPlane;
  }
}

/// Runs of equal ranks, holes, edges and single full ranks.
Volumes RandomVolumes(std::mt19937& random)
{
  Volumes volumes;
  const std::size_t count = 1 + random() % 60;
  while (volumes.size() < count) {
    const std::uint64_t volume = random() % 3 == 0 ? 0 : 1 + random() % (1 << (1 + random() % 20));
    volumes.insert(volumes.end(), random() % 2 == 0 ? 1 : 1 + random() % 8, volume);
  }
  return volumes;
}

}  // namespace

TEST(Aggregation, PlansThePapersCases)
{
  // 256 ranks with two planes of 512^3 each; the writers are those of the paper.
  const Aggregation plates = PlanAggregation(Volumes(256, 12 * KB));
  EXPECT_EQ(WritersOf(plates), 32);
  EXPECT_EQ(plates.Reduction, 8);
  Volumes turned(256, 0);
  turned[40] = turned[120] = turned[200] = 1024 * KB;
  EXPECT_EQ(WritersOf(PlanAggregation(turned)), 3);
  Volumes crossed(256, 8 * KB);
  crossed[128] = 1024 * KB;
  const Aggregation three = PlanAggregation(crossed);
  EXPECT_EQ(WritersOf(three), 3);
  EXPECT_EQ(three.Groups.size(), 2u);
  Volumes cube(256, 0);
  std::fill_n(cube.begin() + 64, 128, 512 * KB);
  EXPECT_EQ(WritersOf(PlanAggregation(cube)), 128);
  Volumes several(256, 0);
  AddCuboid(several, 60, 64, 64 * 64 * 4);
  AddCuboid(several, 201, 33, 33 * 65 * 4);
  AddCuboid(several, 400, 41, 10 * 40 * 4);
  const Aggregation groups = PlanAggregation(several);
  ASSERT_EQ(groups.Groups.size(), 3u);
  EXPECT_EQ(groups.Groups[0].Ranks.size(), 32u);
  EXPECT_EQ(groups.Groups[1].Ranks.size(), 17u) << "an edge rank with one plane";
  EXPECT_EQ(groups.Groups[2].Ranks.size(), 21u);
}

TEST(Aggregation, LetsEdgesJoinTheirGroup)
{
  const Aggregation plan = PlanAggregation({0, 3, 8, 8, 8, 5, 0, 8, 4, 4, 8, 8}, 0);
  ASSERT_EQ(plan.Groups.size(), 1u) << "4, 4 are no more than the ranks beside them";
  EXPECT_EQ(plan.Groups[0].Volume, 8u);
  EXPECT_EQ(plan.Groups[0].Ranks.size(), 10u);
  EXPECT_EQ(plan.WriterOf[0], -1);
  EXPECT_EQ(plan.WriterOf[6], -1);
}

TEST(Aggregation, HasPropertiesOnRandomVolumes)
{
  std::mt19937 random(20260723);
  for (int round = 0; round < 2000; ++round) {
    const Volumes volumes = RandomVolumes(random);
    const std::uint64_t little = random() % 2 == 0 ? 0 : 1 + random() % 100000;
    const Aggregation plan = PlanAggregation(volumes, little);
    const std::uint64_t most = *std::max_element(volumes.begin(), volumes.end());
    ASSERT_EQ(plan.WriterOf.size(), volumes.size());
    EXPECT_EQ(plan.Target, most * plan.Reduction);
    EXPECT_TRUE(plan.Reduction == 1 || plan.Target <= little);
    // Each rank with values is in one group, and has one writer, which is in the same group.
    std::vector<int> groupOf(volumes.size(), -1);
    for (std::size_t g = 0; g < plan.Groups.size(); ++g) {
      std::uint64_t bytes = 0;
      for (const int rank : plan.Groups[g].Ranks) {
        EXPECT_EQ(groupOf[rank], -1);
        groupOf[rank] = static_cast<int>(g);
        EXPECT_LE(volumes[rank], plan.Groups[g].Volume);
        bytes += volumes[rank];
      }
      EXPECT_EQ(bytes, plan.Groups[g].Bytes);
    }
    Volumes written(volumes.size(), 0);
    std::vector<std::set<int>> writers(plan.Groups.size());
    for (std::size_t rank = 0; rank < volumes.size(); ++rank) {
      ASSERT_EQ(plan.WriterOf[rank] >= 0, volumes[rank] > 0);
      EXPECT_EQ(groupOf[rank] >= 0, volumes[rank] > 0);
      if (volumes[rank] > 0) {
        EXPECT_EQ(groupOf[plan.WriterOf[rank]], groupOf[rank]);
        EXPECT_EQ(plan.WriterOf[plan.WriterOf[rank]], plan.WriterOf[rank]) << "writers write their own";
        written[plan.WriterOf[rank]] += volumes[rank];
        writers[groupOf[rank]].insert(plan.WriterOf[rank]);
      }
    }
    EXPECT_EQ(WrittenBytes(plan, volumes), written);
    EXPECT_EQ(std::accumulate(written.begin(), written.end(), std::uint64_t(0)),
        std::accumulate(volumes.begin(), volumes.end(), std::uint64_t(0)));
    for (std::size_t g = 0; g < plan.Groups.size(); ++g) {
      EXPECT_EQ(static_cast<int>(writers[g].size()), plan.Groups[g].Writers);
      for (const int writer : writers[g]) {
        EXPECT_LE(written[writer], plan.Target + plan.Groups[g].Volume) << "one rank's share above";
      }
    }
  }
}

TEST(Aggregation, CountsStepsByTheFullestGroup)
{
  const Aggregation plan = PlanAggregation({100, 100, 30, 30, 30}, 0);
  ASSERT_EQ(plan.Groups.size(), 2u);
  EXPECT_EQ(StepsAtOnce(plan, 1000, 100), 10);
  EXPECT_EQ(StepsAtOnce(plan, 1001, 100), 11);
  EXPECT_EQ(StepsAtOnce(plan, 1000, 7), 7);
  EXPECT_EQ(StepsAtOnce(plan, 0, 7), 1);
  EXPECT_EQ(StepsAtOnce(PlanAggregation({0, 0}), 1000, 7), 7);
}

TEST(Gathering, KeepsItsLimits)
{
  const Volumes volumes(8, 100 * KB);
  GatheringParameters needs{4, std::nullopt, 0, 1, 1 << 30};
  const Gathering alone = PlanGathering(volumes, needs);
  EXPECT_EQ(alone.Steps, 1) << "nothing is known of the storage";
  EXPECT_EQ(alone.Threads, 32);
  EXPECT_EQ(alone.ThreadsFor(200, 800), 8) << "one of four writers, as they were cut to a half";
  EXPECT_EQ(alone.ThreadsFor(1, 800), 1);
  EXPECT_EQ(alone.ThreadsFor(0, 0), 1);
  needs.Storage = StorageModel();
  EXPECT_EQ(PlanGathering(volumes, needs).Steps, 164)
      << "4 x 8 x 1 MiB for each writer of 2 x 100 KiB a step";
  needs.Period = 10;
  EXPECT_EQ(PlanGathering(volumes, needs).Steps, 160);
  needs.Memory = 10 * alone.StepBytes - 1;
  EXPECT_EQ(PlanGathering(volumes, needs).Steps, 9);
  EXPECT_EQ(alone.StepBytes, (2 * 100 + 3 * 200) * KB);
  needs.Memory = alone.StepBytes - 1;
  EXPECT_EQ(PlanGathering(volumes, needs).Steps, 0);
  needs = {1, std::nullopt, 7, 1, 1 << 30};
  EXPECT_EQ(PlanGathering(volumes, needs).Steps, 7) << "asked for";
  EXPECT_EQ(PlanGathering(Volumes(1000, 10), {1, std::nullopt, 0, 1, 1 << 30}).Threads, 1000);
}

TEST(Shuffle, TellsWhatIsMissing)
{
  const auto alone = MakeSelfCommunicator();
  const char text[] = "abcdef";
  Shuffle whole(*alone);
  whole.Begin({0, 6});
  whole.Exchange([&] {
    whole.Add(4, text + 4, 2);
    whole.Add(0, text, 4);
  });
  const Shuffle::Part mine = whole.ReceivedPart();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(mine.Bytes), mine.Count), "abcdef");
  Shuffle part(*alone);
  part.Begin({0, 6});
  part.Exchange([&] { part.Add(0, text, 4); });
  EXPECT_THAT(testing::MessageOf([&] { part.ReceivedPart(); }), ::testing::HasSubstr("4 of 6"));
  Shuffle none(*alone);
  none.Begin({0, 6});
  none.Exchange([] { throw Error("no values here"); });
  EXPECT_EQ(testing::MessageOf([&] { none.ReceivedPart(); }), "no values here");
}

}  // namespace patchio::output
