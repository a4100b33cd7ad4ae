#include "Catalog/Box.h"

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

/// Checks the guarantee of UniqueParts() at cells near the boxes' faces and in the middle of the
/// boxes.
void ExpectEachPlaceOnce(const std::vector<Box>& boxes, Dice& dice)
{
  const auto rests = BoxBins(boxes).UniqueParts();
  ASSERT_TRUE(rests);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto found = rests->find(static_cast<int>(b));
    const std::vector<int> meeting = MeetingNaively(boxes, boxes[b]);
    ASSERT_EQ(found != rests->end(), meeting[0] < static_cast<int>(b));
    const std::vector<Box> own = found == rests->end() ? std::vector<Box>{boxes[b]} : found->second;
    for (int sample = 0; sample < 30; ++sample) {
      const Box& near = boxes[meeting[dice.Between(0, static_cast<std::int64_t>(meeting.size()) - 1)]];
      Int3 cell;
      for (int axis = 0; axis < 3; ++axis) {
        const int face = static_cast<int>(dice.Between(0, 1) == 0 ? near.Lower[axis] - dice.Between(0, 1)
                                                                  : near.Upper[axis] + dice.Between(0, 1));
        cell[axis] = std::clamp(face, boxes[b].Lower[axis], boxes[b].Upper[axis]);
      }
      const std::vector<int> having = MeetingNaively(boxes, {cell, cell});
      ASSERT_EQ(MeetingNaively(own, {cell, cell}).size(), having[0] == static_cast<int>(b) ? 1u : 0u);
    }
  }
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
    const auto boxes =
        BoxesAtRandom(static_cast<int>(dice.Between(1, 80)), range, std::min(range, 1 << 28), dice);
    const BoxBins bins(boxes);
    for (const Box& query : BoxesAtRandom(20, dice.Between(0, 1) == 0 ? range : Far, range / 2 + 1, dice)) {
      ASSERT_EQ(bins.Intersecting(query), MeetingNaively(boxes, query)) << "round " << round;
    }
    ExpectEachPlaceOnce(boxes, dice);
    EXPECT_TRUE(bins.Intersecting(Box()).empty());
  }
}

TEST(BoxBins, OfNothingMeetNothing)
{
  const BoxBins bins{std::vector<Box>()};
  EXPECT_TRUE(bins.Intersecting({{-Far, -Far, -Far}, {Far, Far, Far}}).empty());
  EXPECT_TRUE(bins.Intersecting({{0, 0, 0}, {0, 0, 0}}).empty());
  EXPECT_TRUE(bins.UniqueParts()->empty());
}

TEST(BoxBins, AnswerFromTheOtherEndOfTheIndexSpace)
{
  for (const int end : {-Far, Far}) {
    const BoxBins bins(std::vector<Box>{{{end, end, end}, {end, end, end}}});
    for (const int other : {-Far - 1, -Far, 0, Far, Far + 1}) {
      const bool meets = other == end;
      EXPECT_EQ(bins.Intersecting({{other, other, other}, {other, other, other}}).size(), meets ? 1u : 0u)
          << other;
    }
    EXPECT_EQ(bins.Intersecting({{-Far - 1, -Far - 1, -Far - 1}, {Far + 1, Far + 1, Far + 1}}).size(), 1u);
  }
}

TEST(BoxBins, VisitUntilTheyAreToldToStop)
{
  const BoxBins bins(std::vector<Box>(10, Box{{0, 0, 0}, {3, 3, 3}}));
  int visits = 0;
  bins.ForEachIntersecting({{1, 1, 1}, {1, 1, 1}}, [&](int) { return ++visits < 4; });
  EXPECT_EQ(visits, 4);
}

TEST(BoxBins, TakeHugeBoxesAmongManyTinyOnes)
{
  std::vector<Box> boxes;
  for (int i = 0; i < 50000; ++i) {
    boxes.push_back({{4 * i, 0, 0}, {4 * i, 0, 0}});
  }
  for (int i = 0; i < 50; ++i) {
    boxes.push_back({{-1000, 2 * i + 1, 0}, {200000, 2 * i + 1, 9}});
  }
  const BoxBins bins(boxes);
  EXPECT_EQ(bins.Intersecting({{40, 0, 0}, {41, 3, 0}}), (std::vector<int>{10, 50000, 50001}));
  EXPECT_TRUE(bins.UniqueParts()->empty());
}

TEST(BoxBins, FindThatAllOfABoxIsOfTheFirst)
{
  const auto rests = BoxBins(std::vector<Box>(20000, Box{{0, 0, 0}, {0, 0, 0}})).UniqueParts();
  ASSERT_TRUE(rests);
  EXPECT_EQ(rests->size(), 19999u);
  EXPECT_TRUE(
      std::all_of(rests->begin(), rests->end(), [](const auto& rest) { return rest.second.empty(); }));
}

TEST(BoxBins, GiveUpOnPlatesThatAllCrossEachOther)
{
  std::vector<Box> plates;
  for (int i = 0; i < 3000; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      plates.push_back({{0, 0, 0}, {9999, 9999, 9999}});
      plates.back().Lower[axis] = plates.back().Upper[axis] = 3 * i;
    }
  }
  EXPECT_FALSE(BoxBins(plates).UniqueParts());
}

}  // namespace patchio
