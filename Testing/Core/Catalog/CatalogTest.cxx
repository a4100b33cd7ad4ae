#include "Catalog/Catalog.h"

#include "TestTools.h"

namespace patchio {
namespace {

Catalog FullCatalog()
{
  Catalog catalog;
  catalog.Path = "/data/summary.samrai";
  catalog.Dimension = 3;
  catalog.Grid = GridType::Curvilinear;
  catalog.Time = 0.1;
  catalog.Step = 123456;
  catalog.Origin = {1, -2, 3.5};
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 4, 5}}, {{4, 0, 0}, {7, 4, 5}}});
  testing::AddLevel(catalog, {{{2, 2, 2}, {5, 5, 5}}}, {2, 4, 1});
  catalog.Levels[1].Spacing = {0.5, 0.25, 0.1};
  catalog.Patches[1].Writer = 7;
  catalog.Patches[1].File = 3;
  catalog.Variables.push_back({"Div U", Centering::Cell, 1, {0, 0, 0}, "Div U", -1});
  catalog.Variables.push_back({"velocity", Centering::Node, 3, {1, 0, 2}, "velocity", -1});
  catalog.Variables.push_back({"iron fraction", Centering::Cell, 1, {0, 0, 0}, "materials", 4});
  catalog.CoordinatesVariable = 1;
  catalog.Axes[0] = {-2, {1, 2.5}, {}};
  catalog.Axes[2] = {0, {0}, {1000}};
  catalog.Geographic = true;
  catalog.Levels[1].FlatAxes = 4;
  catalog.Variables[2].UndefinedFrom = -10;
  catalog.Variables[2].UndefinedTo = -9;
  catalog.ChildBegin = {0, 1, 1, 1};
  catalog.Children = {2};
  catalog.FormatData = {std::byte{7}, std::byte{0}, std::byte{255}};
  catalog.ResetPresence();
  catalog.SetPresence(0, 2, Presence::Stored);
  catalog.SetPresence(2, 0, Presence::One);
  catalog.SetPresence(2, 1, Presence::Zero);
  return catalog;
}

}  // namespace

TEST(Catalog, SurvivesSerialization)
{
  const Catalog catalog = FullCatalog();
  const std::vector<std::byte> bytes = catalog.Serialize();
  const Catalog copy = Catalog::Deserialize(bytes);
  EXPECT_EQ(copy.Serialize(), bytes);
  EXPECT_EQ(copy.Path, catalog.Path);
  EXPECT_EQ(copy.Dimension, catalog.Dimension);
  EXPECT_EQ(copy.Grid, catalog.Grid);
  EXPECT_EQ(copy.Time, catalog.Time);
  EXPECT_EQ(copy.Step, catalog.Step);
  EXPECT_EQ(copy.Origin, catalog.Origin);
  EXPECT_EQ(copy.FormatData, catalog.FormatData);
  EXPECT_EQ(copy.CoordinatesVariable, catalog.CoordinatesVariable);
  EXPECT_EQ(copy.ChildBegin, catalog.ChildBegin);
  EXPECT_EQ(copy.Children, catalog.Children);
  EXPECT_EQ(copy.Geographic, catalog.Geographic);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(copy.Axes[axis].First, catalog.Axes[axis].First);
    EXPECT_EQ(copy.Axes[axis].Positions, catalog.Axes[axis].Positions);
    EXPECT_EQ(copy.Axes[axis].Labels, catalog.Axes[axis].Labels);
  }
  EXPECT_EQ(copy.Patches[1].Cells, catalog.Patches[1].Cells);
  EXPECT_EQ(copy.Patches[1].File, 3);
  EXPECT_EQ(copy.Levels[1].Spacing, catalog.Levels[1].Spacing);
  EXPECT_EQ(copy.Levels[1].FlatAxes, 4);
  EXPECT_EQ(copy.Variables[1].Ghosts, catalog.Variables[1].Ghosts);
  EXPECT_EQ(copy.Variables[2].Material, 4);
  EXPECT_EQ(copy.Variables[2].UndefinedTo, -9);
  EXPECT_EQ(copy.PresenceOf(2, 1), Presence::Zero);
}

TEST(Catalog, RefusesBytesThatEndTooEarlyAnywhere)
{
  const std::vector<std::byte> bytes = FullCatalog().Serialize();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + size);
    EXPECT_THROW(Catalog::Deserialize(part), Error) << size << " of " << bytes.size() << " bytes";
  }
}

TEST(Catalog, RefusesAPresenceTableOfAnotherSize)
{
  Catalog catalog = FullCatalog();
  catalog.Patches.push_back(catalog.Patches.back());
  EXPECT_THAT(testing::MessageOf([&] { Catalog::Deserialize(catalog.Serialize()); }),
      ::testing::HasSubstr("presence table of a wrong size"));
}

TEST(Catalog, FindsVariablesByFullName)
{
  const Catalog catalog = FullCatalog();
  EXPECT_EQ(catalog.FindVariable("velocity"), 1);
  EXPECT_EQ(catalog.FindVariable("veloc"), -1);
  EXPECT_EQ(catalog.FindVariable(""), -1);
}

TEST(Catalog, GivesArraysNodesAndGhostsPerAxis)
{
  const Catalog catalog = FullCatalog();
  using Dims = std::array<std::int64_t, 3>;
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Cell, {0, 0, 0}), (Dims{4, 5, 6}));
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Node, {0, 0, 0}), (Dims{5, 6, 7}));
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Node, {1, 0, 2}), (Dims{7, 6, 11}));
  EXPECT_EQ(catalog.StoredTuples(1, 0), 7 * 6 * 11);
}

TEST(Catalog, KeepsFlatAxesFlat)
{
  Catalog catalog = FullCatalog();
  catalog.Dimension = 2;
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Node, {1, 1, 1}), (std::array<std::int64_t, 3>{7, 8, 1}));
  catalog.Dimension = 3;
  catalog.Levels[0].FlatAxes = 2;
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Node, {0, 0, 0}), (std::array<std::int64_t, 3>{5, 5, 7}));
  EXPECT_EQ(catalog.NodesOf(0, catalog.Patches[0].Cells), (Box{{0, 0, 0}, {4, 4, 6}}));
}

TEST(Catalog, CountsWhatAMeshHas)
{
  Catalog written = testing::MeshCatalog(GridType::Polygonal);
  written.PatchesChange = true;
  const Catalog catalog = Catalog::Deserialize(written.Serialize());
  EXPECT_TRUE(catalog.IsMesh() && catalog.PatchesChange);
  using Dims = std::array<std::int64_t, 3>;
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Node, {0, 0, 0}), (Dims{5, 1, 1}));
  EXPECT_EQ(catalog.ArrayDims(0, Centering::Cell, {0, 0, 0}), (Dims{3, 1, 1}));
  EXPECT_EQ(catalog.StoredValues(0, 0), 15);
  const int lines = catalog.FindMeshArray(MeshRole::Offsets, 1);
  const int polygons = catalog.FindMeshArray(MeshRole::Connectivity, 2);
  EXPECT_EQ(catalog.StoredTuples(lines, 0), 2);
  EXPECT_EQ(catalog.StoredTuples(polygons, 0), 7);
  EXPECT_EQ(catalog.StoredTuples(catalog.FindMeshArray(MeshRole::Offsets, 3), 1), 1);
  EXPECT_EQ(catalog.FindMeshArray(MeshRole::Types), -1);
  EXPECT_TRUE(catalog.IsGeometry(0) && catalog.IsGeometry(polygons));
  EXPECT_FALSE(catalog.IsGeometry(catalog.FindVariable("value")));
}

}  // namespace patchio
