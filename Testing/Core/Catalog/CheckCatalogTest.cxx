#include "Catalog/CheckCatalog.h"

#include "SamraiDraft.h"
#include "TestTools.h"

#include <cmath>
#include <functional>
#include <limits>

namespace patchio {
namespace {

using Changes = std::vector<std::function<void(Catalog&)>>;

/// Checks that each of the changes makes a sound catalog impossible.
void ExpectRefused(const Catalog& sound, const Changes& faults)
{
  EXPECT_NO_THROW(CheckCatalog(sound));
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Catalog catalog = sound;
    faults[i](catalog);
    EXPECT_THROW(CheckCatalog(catalog), Error) << "fault " << i;
  }
}

/// 4 x 3 cells on levels 1 and 2, and 4 x 3 on a surface.
Catalog RectilinearCatalog()
{
  Catalog catalog;
  catalog.Grid = GridType::Rectilinear;
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 2, 0}}});
  testing::AddLevel(catalog, {{{0, 0, -1}, {3, 2, -1}}});
  catalog.Levels[1].FlatAxes = 1 << 2;
  catalog.Axes[0] = {0, {0, 1, 2, 4, 8}, {}};
  catalog.Axes[1] = {0, {-3, -2, -1, 0}, {}};
  catalog.Axes[2] = {-1, {-1, 0, 5}, {0, 1000, 500}};
  catalog.LevelNames = {"levels", "surface"};
  return catalog;
}

}  // namespace

TEST(CheckCatalog, RefusesAxesThatDoNotFit)
{
  const Changes faults{
      [](Catalog& c) { c.Axes[0].Positions.pop_back(); },
      [](Catalog& c) { c.Axes[0].First = 1; },
      [](Catalog& c) { c.Axes[1].Positions[1] = -3; },
      [](Catalog& c) { c.Axes[1].Positions[1] = std::nan(""); },
      [](Catalog& c) { c.Axes[2].Positions.clear(); },
      [](Catalog& c) { c.Axes[2].Labels.pop_back(); },
      [](Catalog& c) { c.Axes[2].First = 0; },
      [](Catalog& c) { c.Levels[0].FlatAxes = 1 << 1; },
      [](Catalog& c) { c.Levels[1].Ratio[0] = 2; },
      [](Catalog& c) { c.LevelNames.pop_back(); },
  };
  ExpectRefused(RectilinearCatalog(), faults);
}

TEST(CheckCatalog, RefusesTheLeastIndexOnAnAxisWithoutPatches)
{
  Catalog catalog = RectilinearCatalog();
  catalog.Dimension = 2;
  catalog.Levels.pop_back();
  catalog.LevelNames.pop_back();
  catalog.Patches.pop_back();
  ExpectRefused(catalog, {[](Catalog& c) { c.Axes[2].First = std::numeric_limits<int>::min(); }});
}

TEST(CheckCatalog, RefusesEachThingThatCannotBe)
{
  const Changes faults{
      [](Catalog& c) { c.Dimension = 4; },
      [](Catalog& c) { c.Grid = static_cast<GridType>(5); },
      [](Catalog& c) { c.Levels[0].FlatAxes = 1; },
      [](Catalog& c) { c.Variables[0].UndefinedFrom = 1; },
      [](Catalog& c) { c.Origin[1] = std::nan(""); },
      [](Catalog& c) { c.Levels.clear(); },
      [](Catalog& c) { c.Levels[1].FirstPatch = 1; },
      [](Catalog& c) { c.Levels[1].PatchCount = 2; },
      [](Catalog& c) { c.Levels[0].PatchCount = -1; },
      [](Catalog& c) { c.Levels[1].Ratio[0] = 0; },
      [](Catalog& c) { c.Levels[1].Ratio[0] = 1 << 11; },
      [](Catalog& c) { c.Levels[1].Ratio[2] = 2; },
      [](Catalog& c) { c.Levels[0].Ratio[0] = 2; },
      [](Catalog& c) { c.Levels[0].Spacing[0] = 0; },
      [](Catalog& c) { c.Levels[0].Spacing[0] = std::numeric_limits<double>::infinity(); },
      [](Catalog& c) { c.Patches[2].Level = 0; },
      [](Catalog& c) { c.Patches[2].File = -1; },
      [](Catalog& c) { c.Patches[2].Number = -1; },
      [](Catalog& c) { c.Patches[0].Cells.Lower[0] = 100; },
      [](Catalog& c) { c.Patches[0].Cells.Upper[2] = 1; },
      [](Catalog& c) { c.Patches[0].Cells.Upper[0] = std::numeric_limits<int>::max(); },
      [](Catalog& c) {
        c.Patches[0].Cells = {{0, 0, 0}, {1 << 29, 1 << 29, 0}};
      },
      [](Catalog& c) { c.Variables[0].Name.clear(); },
      [](Catalog& c) { c.Variables[0].Components = 0; },
      [](Catalog& c) { c.Variables[0].Components = 1 << 21; },
      [](Catalog& c) { c.Variables[0].Ghosts[0] = 65; },
      [](Catalog& c) { c.Variables[0].Ghosts[2] = 1; },
      [](Catalog& c) { c.Variables[0].Material = -2; },
      [](Catalog& c) { c.Variables[0].Center = static_cast<Centering>(9); },
      [](Catalog& c) { c.CoordinatesVariable = 0; },
      [](Catalog& c) { c.Grid = GridType::Curvilinear; },
      [](Catalog& c) { c.Grid = GridType::Curvilinear, c.CoordinatesVariable = 0; },
      [](Catalog& c) { c.Grid = GridType::Curvilinear, c.CoordinatesVariable = 4; },
      [](Catalog& c) { c.SetPresence(0, 0, static_cast<Presence>(4)); },
      [](Catalog& c) { c.ChildBegin.pop_back(); },
      [](Catalog& c) {
        c.ChildBegin = {0, 1, 0, 1};
      },
      [](Catalog& c) { c.ChildBegin.front() = 1; },
      [](Catalog& c) { c.Children[0] = 3; },
      [](Catalog& c) { c.Children[0] = 1; },
      [](Catalog& c) { c.ChildBegin.clear(); },
  };
  ExpectRefused(testing::SmallCatalog(), faults);
}

TEST(CheckCatalog, NamesLevelAndPatch)
{
  Catalog catalog;
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 2, 0}}});
  for (int level = 1; level < 5; ++level) {
    testing::AddLevel(catalog, {{{0, 0, 0}, {3, 2, 0}}, {{4, 0, 0}, {1, 2, 0}}}, {2, 2, 2});
  }
  const auto message = [&] { return testing::MessageOf([&] { CheckCatalog(catalog); }); };
  EXPECT_THAT(
      message(), ::testing::HasSubstr("an impossible box, (4, 0, 0) to (1, 2, 0), as patch 1 of level 1."));
  for (Level& level : catalog.Levels) {
    level.Ratio[1] = &level == catalog.Levels.data() ? 1 : 1 << 10;
  }
  EXPECT_THAT(message(),
      ::testing::HasSubstr("a refinement that exceeds the range of indices on level 4 along axis 1."));
}

TEST(CheckCatalog, RefusesEachThingThatCannotBeInAMesh)
{
  const Changes faults{
      [](Catalog& c) { c.Grid = GridType::Uniform; },
      [](Catalog& c) { c.Meshes.pop_back(); },
      [](Catalog& c) { c.Meshes[0].Points = -1; },
      [](Catalog& c) { c.Meshes[0].Points = (std::int64_t(1) << 40) + 1; },
      [](Catalog& c) { c.Meshes[0].Connectivity[0] = -1; },
      [](Catalog& c) { ++c.Meshes[0].Cells[0]; },
      [](Catalog& c) { c.Meshes[0].Connectivity[1] = 3; },
      [](Catalog& c) { c.Patches[0].Cells.Upper[0] = 9; },
      [](Catalog& c) {
        c.Patches[1].Cells = {{1, 0, 0}, {1, 0, 0}};
      },
      [](Catalog& c) { c.Dimension = 2; },
      [](Catalog& c) { c.Variables[0].Components = 2; },
      [](Catalog& c) { c.Variables[0].Center = Centering::Cell; },
      [](Catalog& c) { c.Variables[0].Interleaved = false; },
      [](Catalog& c) { c.Variables[0].Role = MeshRole::Values; },
      [](Catalog& c) { c.Variables[1].Role = MeshRole::Values; },
      [](Catalog& c) { c.Variables[2].Role = MeshRole::Connectivity; },
      [](Catalog& c) { c.Variables[1].CellList = 1; },
      [](Catalog& c) { c.Variables[1].CellList = -1; },
      [](Catalog& c) { c.Variables[3].Role = MeshRole::Values; },
      [](Catalog& c) { c.Variables[3].Role = static_cast<MeshRole>(6); },
      [](Catalog& c) { c.Variables[3].Center = Centering::Node; },
      [](Catalog& c) {
        c.Variables[0].Ghosts = {1, 0, 0};
      },
      [](Catalog& c) { c.Variables.back().Components = 1 << 20, c.Meshes[0].Points = std::int64_t(1) << 40; },
      [](Catalog& c) { c.PatchesChange = true, c.Variables[0].TimeInvariant = true; },
  };
  ExpectRefused(testing::MeshCatalog(GridType::Unstructured), faults);
  ExpectRefused(testing::MeshCatalog(GridType::Polygonal),
      {[](Catalog& c) { c.Variables.back().Role = MeshRole::Types; }});
}

TEST(CheckCatalog, AcceptsCoordinatesAndMissingChildren)
{
  Catalog catalog = testing::SmallCatalog();
  catalog.Grid = GridType::Curvilinear;
  catalog.CoordinatesVariable = 1;
  EXPECT_NO_THROW(CheckCatalog(catalog));
  catalog = testing::SmallCatalog();
  catalog.ChildBegin.clear();
  catalog.Children.clear();
  EXPECT_NO_THROW(CheckCatalog(catalog));
}

}  // namespace patchio
