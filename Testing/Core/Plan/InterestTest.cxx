// Selection of patches by place and by value, compared with geometry calculated by hand.
#include "Plan/Interest.h"

#include "RandomBoxes.h"
#include "TestTools.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

namespace patchio {
namespace {

using Shape = RegionOfInterest::Shape;

/// Returns a row of `count` patches of 4 x 4 x 4 cells of size 0.5, 0.25, 1, from x = 10 on: patch i from 10
/// + 2 i to 12 + 2 i.
Catalog RowOfPatches(int count)
{
  std::vector<Box> boxes;
  for (int i = 0; i < count; ++i) {
    boxes.push_back({{4 * i, 0, 0}, {4 * i + 3, 3, 3}});
  }
  Catalog catalog;
  testing::AddLevel(catalog, boxes);
  catalog.Origin = {10, 0, 0};
  catalog.Levels[0].Spacing = {0.5, 0.25, 1};
  return catalog;
}

std::vector<int> NumbersOfTrue(const std::vector<bool>& flags)
{
  std::vector<int> numbers;
  for (std::size_t p = 0; p < flags.size(); ++p) {
    if (flags[p]) {
      numbers.push_back(static_cast<int>(p));
    }
  }
  return numbers;
}

std::vector<int> InBox(const Catalog& catalog, const Double3& lower, const Double3& upper)
{
  RegionOfInterest region;
  region.Type = Shape::InBox;
  region.Lower = lower;
  region.Upper = upper;
  return NumbersOfTrue(PatchesNear(catalog, region));
}

std::vector<int> OnPlane(const Catalog& catalog, const Double3& origin, const Double3& normal)
{
  RegionOfInterest region;
  region.Type = Shape::OnPlane;
  region.Origin = origin;
  region.Normal = normal;
  return NumbersOfTrue(PatchesNear(catalog, region));
}

using List = std::vector<int>;

TEST(PatchesNear, AreAllWithoutARegion)
{
  EXPECT_EQ(NumbersOfTrue(PatchesNear(RowOfPatches(3), {})), (List{0, 1, 2}));
}

TEST(PatchesNear, MeetTheBoxWithOneCellMore)
{
  const Catalog row = RowOfPatches(6);
  EXPECT_EQ(InBox(row, {13, 0, 0}, {13, 1, 1}), (List{1}));         // in the middle of patch 1
  EXPECT_EQ(InBox(row, {13.6, 0, 0}, {13.7, 1, 1}), (List{1, 2}));  // in its last cell
  EXPECT_EQ(InBox(row, {13.7, 1, 1}, {13.6, 0, 0}), (List{1, 2}));  // corners the other way round
  EXPECT_EQ(InBox(row, {0, 0, 0}, {100, 1, 1}), (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(InBox(row, {0, 1.2, 0}, {100, 2, 1}), (List{0, 1, 2, 3, 4, 5}));  // one cell beyond in y
  EXPECT_EQ(InBox(row, {0, 1.3, 0}, {100, 2, 1}), List{});                    // further
}

TEST(PatchesNear, MeetThePlane)
{
  const Catalog row = RowOfPatches(6);
  EXPECT_EQ(OnPlane(row, {15, 9, 9}, {3, 0, 0}), (List{2}));
  EXPECT_EQ(OnPlane(row, {15, 9, 9}, {-0.1, 0, 0}), (List{2}));
  EXPECT_EQ(OnPlane(row, {16, 9, 9}, {1, 0, 0}), (List{2, 3}));  // between both
  EXPECT_EQ(OnPlane(row, {0, 0, 2}, {0, 0, 1}), (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(OnPlane(row, {0, 0, 7}, {0, 0, 1}), List{});
  // x - 10 + y - 11 = 0 is met at x = 20 to 21, where y is 0 to 1, and within a cell of each.
  EXPECT_EQ(OnPlane(row, {10, 11, 0}, {1, 1, 0}), (List{4, 5}));
}

TEST(PatchesNear, OfTwoDimensionsDoNotMindTheThird)
{
  Catalog row = RowOfPatches(3);
  row.Dimension = 2;
  for (Patch& patch : row.Patches) {
    patch.Cells.Upper[2] = 0;
  }
  EXPECT_EQ(InBox(row, {13, 0, 50}, {13, 1, 60}), (List{1}));
  EXPECT_EQ(OnPlane(row, {0, 0, 50}, {0, 0, 1}), (List{0, 1, 2}));
}

TEST(PatchesNear, OfRectilinearGridsGoByTheirAxes)
{
  Catalog row = RowOfPatches(3);
  row.Grid = GridType::Rectilinear;
  row.Axes[0] = {0, {0, 1, 2, 3, 4, 10, 20, 30, 40, 41, 42, 43, 44}, {}};
  row.Axes[1] = {0, {0, 1, 2, 3, 4}, {}};
  row.Axes[2] = {0, {0, 1, 2, 3, 4}, {}};
  EXPECT_EQ(InBox(row, {25, 0, 0}, {26, 1, 1}), (List{1}));
  EXPECT_EQ(InBox(row, {5, 0, 0}, {6, 1, 1}), (List{0, 1}));
  row.Levels[0].FlatAxes = 1;
  EXPECT_EQ(InBox(row, {25, 0, 0}, {26, 1, 1}), (List{0, 1, 2}));
}

TEST(PatchesNear, AreAllWherePlacesAreNotKnown)
{
  Catalog row = RowOfPatches(3);
  row.Grid = GridType::Curvilinear;
  EXPECT_FALSE(row.KnowsPositions());
  EXPECT_EQ(InBox(row, {-5, -5, -5}, {-4, -4, -4}), (List{0, 1, 2}));
}

TEST(PatchesWithValues, HaveThemOrTouchWhatMakesASurface)
{
  const Catalog row = RowOfPatches(6);
  const std::vector<ValueRange> ranges{{0, 1}, {2, 3}, {2, 3}, {5, 6}, {7, 8}, {9, 9}};
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, ranges, {1.5, 1.5})), (List{0, 1}));  // between 0 and 1
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, ranges, {2.5, 2.5})), (List{0, 1, 2, 3}));  // in 1 and 2
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, ranges, {8.5, 8.7})), (List{4, 5}));
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, ranges, {10, 11})), List{});
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, ranges, {-5, 50})), (List{0, 1, 2, 3, 4, 5}));
}

TEST(PatchesWithValues, CountWhatIsUnknownAndLeaveOutWhatHasNone)
{
  const Catalog row = RowOfPatches(5);
  const ValueRange none = ValueRange::EmptyRange();
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(row, {none, none, none, {1, 2}, none}, {1, 1})), (List{2, 3, 4}));
  EXPECT_EQ(
      NumbersOfTrue(PatchesWithValues(row, {{}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}, {7, 7})), (List{0, 1}));
}

TEST(PatchesWithValues, CountThoseAcrossOneCell)
{
  // A surface between patches 0 and 2 passes through patch 1, which is one cell wide. Its position depends on
  // all three patches.
  Catalog catalog;
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 3, 3}}, {{4, 0, 0}, {4, 3, 3}}, {{5, 0, 0}, {8, 3, 3}}});
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(catalog, {{0, 1}, {0, 1}, {2, 3}}, {1.5, 1.5})), (List{0, 1, 2}));
}

TEST(PatchesWithValues, CountOtherLevelsWhereTheyMeet)
{
  Catalog catalog = RowOfPatches(4);
  testing::AddLevel(catalog, {{{8, 0, 0}, {15, 7, 7}}});  // on patch 1, and beside 0 and 2
  catalog.Levels[1].Ratio = {2, 2, 2};
  const std::vector<ValueRange> ranges{{0, 1}, {2, 3}, {2, 3}, {2, 3}, {2, 3}};
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(catalog, ranges, {0.5, 0.5})), (List{0, 1, 4}));
  // Patches 0 to 3 of the coarse level are beside the fine patch, under it, or one patch away from it.
  const std::vector<ValueRange> fineIsGreat{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {8, 9}};
  EXPECT_EQ(NumbersOfTrue(PatchesWithValues(catalog, fineIsGreat, {5, 5})), (List{0, 1, 2, 4}));
}

TEST(ValueRange, AllowsForRoundingToFloats)
{
  const double least = 1.0 / 3, greatest = 1e30 / 3;
  const ValueRange range = RangeOfFloats(least, greatest);
  EXPECT_LE(range.Least, std::min<double>(least, static_cast<float>(least)));
  EXPECT_GE(range.Greatest, std::max<double>(greatest, static_cast<float>(greatest)));
  EXPECT_NEAR(range.Least, least, 1e-6);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_TRUE(RangeOfFloats(huge, -huge).Intersects({3, 3}));
  EXPECT_TRUE(RangeOfFloats(std::nan(""), 1).Intersects({3, 3}));
}

/// Returns whether the plane meets the closed cell, from the cell's corners.
bool MeetsCell(const Catalog& catalog, const Int3& cell, const RegionOfInterest& plane)
{
  double least = 0, most = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double spacing = catalog.Levels[0].Spacing[axis];
    const double low = catalog.Origin[axis] + cell[axis] * spacing - plane.Origin[axis];
    least += std::min(plane.Normal[axis] * low, plane.Normal[axis] * (low + spacing));
    most += std::max(plane.Normal[axis] * low, plane.Normal[axis] * (low + spacing));
  }
  return least <= 0 && most >= 0;
}

/// Checks that each cell is in at most one box, and in one if the plane meets the cell. Returns the number of
/// cells in boxes / cells that the plane meets.
double CheckCellsOnPlane(const Catalog& catalog, const Box& cells, const RegionOfInterest& plane)
{
  const std::vector<Box> boxes = CellsOnPlane(catalog, 0, cells, plane, 8);
  std::vector<std::uint8_t> times(static_cast<std::size_t>(cells.CellCount()), 0);
  for (const Box& box : boxes) {
    EXPECT_EQ(Intersect(box, cells), box);
    testing::ForEachCell(box, [&](const Int3& cell) { ++times[IndexIn(cells, cell)]; });
  }
  double met = 0;
  testing::ForEachCell(cells, [&](const Int3& cell) {
    const bool meets = MeetsCell(catalog, cell, plane);
    const int in = times[IndexIn(cells, cell)];
    EXPECT_TRUE(in == 1 || (in == 0 && !meets)) << cell[0] << " " << cell[1] << " " << cell[2];
    met += meets ? 1 : 0;
  });
  return std::accumulate(times.begin(), times.end(), 0.0) / std::max(met, 1.0);
}

TEST(CellsOnPlane, AreAllThatItMeetsAndFewOthers)
{
  const Catalog row = RowOfPatches(1);
  const Box cells{{-20, 3, 100}, {45, 40, 160}};
  RegionOfInterest plane;
  plane.Type = Shape::OnPlane;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(-1, 1);
  for (int round = 0; round < 30; ++round) {
    plane.Normal = {part(random), part(random), round % 3 ? part(random) : 0};
    plane.Origin = {16 + 10 * part(random), 5 + 3 * part(random), 130 + 20 * part(random)};
    EXPECT_LT(CheckCellsOnPlane(row, cells, plane), 8);
  }
  for (const Double3& normal : {Double3{1, 0, 0}, {0, -2, 0}, {0, 0, 1}}) {
    plane.Normal = normal;
    for (const Double3& origin : {Double3{12.3, 4.1, 120.5}, {12.5, 4.25, 120}, {0, 0.75, 100}}) {
      plane.Origin = origin;
      EXPECT_EQ(CheckCellsOnPlane(row, cells, plane), 1);
    }
  }
  plane.Origin = {1000, 1000, 1000};
  EXPECT_TRUE(CellsOnPlane(row, 0, cells, plane, 8).empty());
}

}  // namespace
}  // namespace patchio
