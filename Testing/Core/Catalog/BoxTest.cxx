#include "Catalog/Box.h"

#include "RandomBoxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace patchio {

TEST(Box, CountsInclusiveIndices)
{
  EXPECT_TRUE(Box{}.Empty());
  EXPECT_EQ(Box{}.CellCount(), 0);
  EXPECT_TRUE((Box{{0, 0, 0}, {-1, 5, 5}}.Empty()));
  EXPECT_TRUE((Box{{0, 6, 0}, {5, 5, 5}}.Empty()));
  EXPECT_EQ((Box{{0, 0, 7}, {5, 5, 5}}.CellCount()), 0);
  const Box box{{-2, 0, 5}, {1, 0, 9}};
  EXPECT_EQ(box.Width(0), 4);
  EXPECT_EQ(box.CellCount(), 20);
  const int far = 1 << 30;
  const Box wide{{-far, 0, 0}, {far, 3, 0}};
  EXPECT_EQ(wide.Width(0), (std::int64_t(1) << 31) + 1) << "more cells than an int holds";
  EXPECT_EQ(wide.CellCount(), 4 * ((std::int64_t(1) << 31) + 1));
  const Box huge{{-far, -far, -far}, {far, far, far}};
  EXPECT_EQ(huge.CellCount(), std::numeric_limits<std::int64_t>::max());
}

TEST(Box, IntersectsToTheCommonCells)
{
  const Box common = Intersect({{0, 0, 0}, {4, 4, 4}}, {{2, -3, 4}, {9, 1, 7}});
  EXPECT_EQ(common, (Box{{2, 0, 4}, {4, 1, 4}}));
  EXPECT_TRUE(Intersect({{0, 0, 0}, {3, 3, 3}}, {{4, 0, 0}, {7, 3, 3}}).Empty()) << "neighbours";
}

TEST(FloorDivide, RoundsTowardsMinusInfinity)
{
  for (int divisor = 1; divisor <= 5; ++divisor) {
    for (int value = -20; value <= 20; ++value) {
      EXPECT_EQ(FloorDivide(value, divisor), static_cast<int>(std::floor(double(value) / divisor)))
          << value << " / " << divisor;
    }
  }
}

TEST(Coarsen, HoldsAllOfTheFineBox)
{
  EXPECT_EQ(Coarsen({{-3, 4, 0}, {-1, 5, 0}}, {2, 4, 1}), (Box{{-2, 1, 0}, {-1, 1, 0}}));
}

TEST(Refine, GivesTheFineCellsOfTheCoarseOnes)
{
  EXPECT_EQ(Refine({{-2, 0, 1}, {-1, 1, 1}}, {2, 4, 3}), (Box{{-4, 0, 3}, {-1, 7, 5}}));
}

TEST(Refine, StaysWithinTheIndexRange)
{
  const int far = 1 << 30;
  EXPECT_EQ(Refine({{-far, 0, 0}, {far, 0, 0}}, {1024, 1, 1}), (Box{{-far, 0, 0}, {far, 0, 0}}));
}

TEST(Subtract, LeavesEachOtherCellOnce)
{
  testing::Dice dice(1);
  for (int round = 0; round < 500; ++round) {
    const Box box = testing::DomainAtRandom(7, dice);
    const Box taken = round % 9 == 0 ? Box() : testing::PartAtRandom(box, dice);
    std::vector<Box> rest{{{9, 9, 9}, {9, 9, 9}}};
    Subtract(box, taken, rest);
    EXPECT_EQ(rest[0], (Box{{9, 9, 9}, {9, 9, 9}})) << "boxes are added";
    EXPECT_LE(rest.size(), 7u);
    std::map<Int3, int> cells;
    for (std::size_t b = 1; b < rest.size(); ++b) {
      ASSERT_FALSE(rest[b].Empty());
      testing::ForEachCell(rest[b], [&](const Int3& cell) { ++cells[cell]; });
    }
    testing::ForEachCell(box, [&](const Int3& cell) {
      ASSERT_EQ(cells[cell], testing::Contains(taken, cell) ? 0 : 1);
      cells.erase(cell);
    });
    EXPECT_TRUE(cells.empty());
  }
}

TEST(Subtract, WorksAtTheEndsOfTheIndexSpace)
{
  const int far = 1 << 30;
  std::vector<Box> rest;
  Subtract({{-far, -far, -far}, {far, far, far}}, {{-far, -far, -far}, {far, far, far - 1}}, rest);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0], (Box{{-far, -far, far}, {far, far, far}}));
}

TEST(IndexIn, CountsCellsInTheOrderOfArrays)
{
  testing::Dice dice(2);
  for (int round = 0; round < 50; ++round) {
    const Box box = testing::DomainAtRandom(6, dice);
    std::size_t next = 0;
    testing::ForEachCell(box, [&](const Int3& cell) { ASSERT_EQ(IndexIn(box, cell), next++); });
  }
  const int far = 1 << 30;
  EXPECT_EQ(IndexIn({{-far, -far, 0}, {far, far, 0}}, {far, far, 0}),
      static_cast<std::size_t>(((std::int64_t(1) << 31) + 1) * ((std::int64_t(1) << 31) + 1) - 1));
}

TEST(MarkBox, SetsTheFlagsOfAPartOnly)
{
  testing::Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    const Box box = testing::DomainAtRandom(7, dice);
    const Box part = testing::PartAtRandom(box, dice);
    std::vector<std::uint8_t> flags(box.CellCount(), 2);
    MarkBox(box, part, 5, flags.data());
    std::size_t next = 0;
    testing::ForEachCell(
        box, [&](const Int3& cell) { ASSERT_EQ(flags[next++], testing::Contains(part, cell) ? 5 : 2); });
  }
}

}  // namespace patchio
