#include "Tuning/Timeline.h"

#include "TestTools.h"

namespace patchio {
namespace {

/// Returns the point of a read with 1000 bytes/s and two reads in flight.
TimelinePoint Steady(double seconds)
{
  return {seconds, 1000 * seconds, 2};
}

/// Rank 0 of two ranks. The other rank has read half as much in half the time.
class TwoRanks : public Communicator
{
public:
  int Rank() const override { return 0; }
  int Size() const override { return 2; }
  void Broadcast(std::vector<std::byte>&) override {}
  std::vector<std::string> AllGather(const std::string&) override { return {}; }
  std::vector<int> AllGather(const std::vector<int>&) override { return {}; }
  std::vector<double> AllGather(const std::vector<double>& mine) override
  {
    std::vector<double> all = mine;
    if (mine.size() == 1) {
      all.push_back(mine[0] / 2);
      return all;
    }
    const std::size_t moments = mine.size() / 2;
    for (std::size_t i = 0; i < moments; ++i) {
      const bool over = 2 * i > moments - 1;
      all.push_back(over ? mine[moments - 1] : mine[2 * i]);
      all.push_back(over ? 0 : 2);
    }
    return all;
  }
};

}  // namespace

TEST(Timeline, KeepsAsManyPointsOfALongReadAsOfAShortOne)
{
  Timeline timeline;
  for (int i = 1; i <= 100000; ++i) {
    timeline.Add(Steady(i * 0.01));
  }
  timeline.End(Steady(1000.001));
  const std::vector<TimelinePoint>& points = timeline.Points();
  EXPECT_LE(points.size(), Timeline::MostPoints + 1);
  EXPECT_GE(points.size(), Timeline::MostPoints / 4);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].Seconds, points[i - 1].Seconds);
    EXPECT_DOUBLE_EQ(points[i].Bytes, 1000 * points[i].Seconds);
  }
  EXPECT_EQ(points.back().Seconds, 1000.001);
}

TEST(Timeline, KeepsTheEndOfAReadWithoutMoments)
{
  Timeline timeline;
  timeline.End({0.001, 7, 0});
  ASSERT_EQ(timeline.Points().size(), 2u);
  EXPECT_EQ(timeline.Points()[0].Bytes, 0);
  EXPECT_EQ(timeline.Points()[1].Bytes, 7);
}

TEST(Timeline, IsLinearBetweenItsPoints)
{
  const std::vector<TimelinePoint> points{{0, 0, 0}, {2, 10, 4}, {4, 30, 2}};
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 1).Bytes, 5);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 1).InFlight, 2);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 3).Bytes, 20);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 4).Bytes, 30);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 4).InFlight, 2);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 5).Bytes, 30);
  EXPECT_DOUBLE_EQ(InterpolateTimeline(points, 5).InFlight, 0);
  EXPECT_EQ(InterpolateTimeline({}, 1).Bytes, 0);
}

TEST(Timeline, AddsUpOverRanksThatEndAtDifferentTimes)
{
  TwoRanks ranks;
  const std::vector<TimelinePoint> sum = SumOverRanks({{0, 0, 2}, {4, 4000, 2}}, ranks);
  EXPECT_NEAR(InterpolateTimeline(sum, 1).Bytes, 2000, 1e-9);
  EXPECT_NEAR(InterpolateTimeline(sum, 1).InFlight, 4, 1e-9);
  EXPECT_NEAR(InterpolateTimeline(sum, 3).Bytes, 3000 + 2000, 1e-9);
  EXPECT_NEAR(InterpolateTimeline(sum, 3).InFlight, 2, 1e-9);
  EXPECT_DOUBLE_EQ(sum.back().Seconds, 4);
  EXPECT_NEAR(sum.back().Bytes, 6000, 1e-9);
  EXPECT_TRUE(SumOverRanks({}, ranks).empty());
}

TEST(Timeline, OfOneRankStaysAsItIs)
{
  const auto alone = MakeSelfCommunicator();
  const std::vector<TimelinePoint> sum = SumOverRanks({{0, 0, 0}, {1, 5, 1}, {3, 6, 0}}, *alone);
  ASSERT_EQ(sum.size(), 3u);
  EXPECT_EQ(sum[1].Seconds, 1);
  EXPECT_EQ(sum[1].Bytes, 5);
}

}  // namespace patchio
