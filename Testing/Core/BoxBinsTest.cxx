#include "Catalog/BoxBins.h"

#include "RandomBoxes.h"

#include <gtest/gtest.h>

namespace patchio {
namespace {

using testing::Dice;

constexpr int Far = 1 << 30;

std::vector<int> MeetingNaively(const std::vector<Box>& boxes, const Box& cells)
{
  std::vector<int> found;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (!Intersect(boxes[b], cells).Empty()) {
      found.push_back(static_cast<int>(b));
    }
  }
  return found;
}

std::vector<bool> OverlappingNaively(const std::vector<Box>& boxes)
{
  std::vector<bool> flags;
  for (const Box& box : boxes) {
    flags.push_back(MeetingNaively(boxes, box).size() > 1);
  }
  return flags;
}

std::vector<Box> BoxesAtRandom(int count, int range, int longest, Dice& dice)
{
  std::vector<Box> boxes;
  for (int b = 0; b < count; ++b) {
    Box& box = boxes.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      box.Lower[axis] = static_cast<int>(dice.Between(-range, range));
      box.Upper[axis] = static_cast<int>(std::min<std::int64_t>(
          Far, box.Lower[axis] + dice.Between(0, dice.Between(0, 9) == 0 ? longest : 1 + longest / 8)));
    }
  }
  return boxes;
}

}  // namespace

TEST(BoxBins, FindsWhatMeetsABox)
{
  Dice dice(1);
  for (int round = 0; round < 300; ++round) {
    const int range = dice.Between(0, 3) == 0 ? Far : static_cast<int>(dice.Between(1, 60));
    const auto boxes = BoxesAtRandom(static_cast<int>(dice.Between(1, 80)), range, std::min(range, 1 << 28), dice);
    const BoxBins bins(boxes);
    for (const Box& query : BoxesAtRandom(20, dice.Between(0, 1) == 0 ? range : Far, range / 2 + 1, dice)) {
      ASSERT_EQ(bins.Meeting(query), MeetingNaively(boxes, query)) << "round " << round;
    }
    EXPECT_EQ(bins.Overlapping(), OverlappingNaively(boxes));
    EXPECT_TRUE(bins.Meeting(Box()).empty());
  }
}

TEST(BoxBins, OfNothingMeetNothing)
{
  const BoxBins bins({});
  EXPECT_TRUE(bins.Meeting({{-Far, -Far, -Far}, {Far, Far, Far}}).empty());
  EXPECT_TRUE(bins.Meeting({{0, 0, 0}, {0, 0, 0}}).empty());
  EXPECT_TRUE(bins.Overlapping().empty());
}

TEST(BoxBins, AnswerFromTheOtherEndOfTheIndexSpace)
{
  for (const int end : {-Far, Far}) {
    const BoxBins bins({{{end, end, end}, {end, end, end}}});
    for (const int other : {-Far - 1, -Far, 0, Far, Far + 1}) {
      const bool meets = other == end;
      EXPECT_EQ(bins.Meeting({{other, other, other}, {other, other, other}}).size(), meets ? 1u : 0u) << other;
    }
    EXPECT_EQ(bins.Meeting({{-Far - 1, -Far - 1, -Far - 1}, {Far + 1, Far + 1, Far + 1}}).size(), 1u);
  }
}

TEST(BoxBins, VisitUntilTheyAreToldToStop)
{
  const BoxBins bins(std::vector<Box>(10, Box{{0, 0, 0}, {3, 3, 3}}));
  int visits = 0;
  bins.ForEachMeeting({{1, 1, 1}, {1, 1, 1}}, [&](int) { return ++visits < 4; });
  EXPECT_EQ(visits, 4);
}

TEST(BoxBins, TakeHugeBoxesAmongManyTinyOnes)
{
  std::vector<Box> boxes;
  for (int i = 0; i < 50000; ++i) {
    boxes.push_back({{4 * i, 0, 0}, {4 * i, 0, 0}});
  }
  for (int i = 0; i < 50; ++i) {
    boxes.push_back({{-Far, 2 * i + 1, -Far}, {Far, 2 * i + 1, Far}});
  }
  const BoxBins bins(boxes);
  EXPECT_EQ(bins.Meeting({{40, 0, 0}, {41, 3, 0}}), (std::vector<int>{10, 50000, 50001}));
  const auto overlapping = bins.Overlapping();
  EXPECT_EQ(std::count(overlapping.begin(), overlapping.end(), true), 0);
}

TEST(BoxBins, GiveUpOnBoxesThatAllMeet)
{
  // Each pair shares a cell: found at once. Long rods side by side, all in the same bins: perhaps not.
  const std::vector<Box> same(20000, Box{{0, 0, 0}, {0, 0, 0}});
  const auto flags = BoxBins(same).Overlapping();
  EXPECT_EQ(std::count(flags.begin(), flags.end(), true), 20000);
}

}  // namespace patchio
