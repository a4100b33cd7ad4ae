#include "Catalog/Box.h"

#include <gtest/gtest.h>

#include <cmath>

namespace patchio {

TEST(Box, IsEmptyByDefault)
{
  EXPECT_TRUE(Box{}.Empty());
  EXPECT_EQ(Box{}.Cells(), 0);
}

TEST(Box, CountsInclusiveIndices)
{
  const Box box{{-2, 0, 5}, {1, 0, 9}};
  EXPECT_EQ(box.Width(0), 4);
  EXPECT_EQ(box.Width(1), 1);
  EXPECT_EQ(box.Width(2), 5);
  EXPECT_EQ(box.Cells(), 20);
}

TEST(Box, IsEmptyWhenOneAxisIs)
{
  EXPECT_TRUE((Box{{0, 0, 0}, {-1, 5, 5}}.Empty()));
  EXPECT_TRUE((Box{{0, 6, 0}, {5, 5, 5}}.Empty()));
  EXPECT_EQ((Box{{0, 0, 7}, {5, 5, 5}}.Cells()), 0);
}

TEST(Box, CountsMoreCellsThanAnIntHolds)
{
  const int far = 1 << 30;
  const Box box{{-far, 0, 0}, {far, 3, 0}};
  EXPECT_EQ(box.Width(0), (std::int64_t(1) << 31) + 1);
  EXPECT_EQ(box.Cells(), 4 * ((std::int64_t(1) << 31) + 1));
}

TEST(Box, IntersectsToTheCommonCells)
{
  const Box common = Intersect({{0, 0, 0}, {4, 4, 4}}, {{2, -3, 4}, {9, 1, 7}});
  EXPECT_EQ(common, (Box{{2, 0, 4}, {4, 1, 4}}));
}

TEST(Box, IntersectionOfNeighboursIsEmpty)
{
  EXPECT_TRUE(Intersect({{0, 0, 0}, {3, 3, 3}}, {{4, 0, 0}, {7, 3, 3}}).Empty());
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

TEST(Refine, IsUndoneByCoarsen)
{
  const Box box{{-7, 3, -1}, {5, 9, 0}};
  for (const Int3& ratio : {Int3{2, 2, 2}, Int3{3, 3, 3}, Int3{2, 4, 1}}) {
    EXPECT_EQ(Coarsen(Refine(box, ratio), ratio), box);
  }
}

TEST(Refine, StaysWithinTheIndexRange)
{
  const int far = 1 << 30;
  EXPECT_EQ(Refine({{-far, 0, 0}, {far, 0, 0}}, {1024, 1, 1}), (Box{{-far, 0, 0}, {far, 0, 0}}));
}

}  // namespace patchio
