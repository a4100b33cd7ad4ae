// Compares the bounds of levels with geometry calculated by hand.
#include "Catalog/Catalog.h"

#include "TestTools.h"

namespace patchio {
namespace {

using testing::AddLevel;

void ExpectBounds(const std::optional<Bounds>& found, const Double3& lower, const Double3& upper)
{
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->Lower, lower);
  EXPECT_EQ(found->Upper, upper);
}

TEST(Bounds, OfUniformLevelsAreThoseOfTheirCells)
{
  Catalog catalog;
  AddLevel(catalog, {{{0, 0, 0}, {3, 3, 3}}, {{4, 0, 0}, {7, 3, 3}}});
  AddLevel(catalog, {{{-2, 2, 2}, {5, 5, 5}}}, {2, 2, 2});
  AddLevel(catalog, {});
  catalog.Origin = {10, 0, -1};
  catalog.Levels[0].Spacing = {0.5, 0.25, 1};
  catalog.Levels[1].Spacing = {0.25, 0.125, 0.5};
  ExpectBounds(BoundsOfLevel(catalog, 0), {10, 0, -1}, {14, 1, 3});
  ExpectBounds(BoundsOfLevel(catalog, 1), {9.5, 0.25, 0}, {11.5, 0.75, 2});
  EXPECT_FALSE(BoundsOfLevel(catalog, 2).has_value()) << "there are no patches";
  ExpectBounds(BoundsOf(catalog), {9.5, 0, -1}, {14, 1, 3});
}

TEST(Bounds, HaveNoThirdAxisInTwoDimensions)
{
  Catalog catalog;
  catalog.Dimension = 2;
  AddLevel(catalog, {{{0, 0, 0}, {3, 3, 0}}});
  catalog.Origin = {0, 0, 5};
  ExpectBounds(BoundsOf(catalog), {0, 0, 0}, {4, 4, 0});
}

TEST(Bounds, OfRectilinearLevelsAreTheEndsOfTheirNodes)
{
  Catalog catalog;
  catalog.Grid = GridType::Rectilinear;
  AddLevel(catalog, {{{0, 0, 0}, {1, 0, 1}}});
  AddLevel(catalog, {{{0, 0, -1}, {1, 0, -1}}});
  catalog.Levels[1].FlatAxes = 4;
  catalog.Axes[0] = {0, {100, 110, 130}, {}};
  catalog.Axes[1] = {0, {-5, 5}, {}};
  catalog.Axes[2] = {-1, {-0.5, 0, 1, 4}, {}};
  ExpectBounds(BoundsOfLevel(catalog, 0), {100, -5, 0}, {130, 5, 4});
  ExpectBounds(BoundsOfLevel(catalog, 1), {100, -5, -0.5}, {130, 5, -0.5});
  catalog.Grid = GridType::Curvilinear;
  EXPECT_FALSE(BoundsOf(catalog).has_value());
}

}  // namespace
}  // namespace patchio
