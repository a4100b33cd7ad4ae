#include "Plan/Blocks.h"

#include "RandomLevels.h"

#include <map>

namespace patchio {
namespace {

using testing::Dice;

/// Returns the patch whose value a cell of a block's level gets: the patch of the same level that has the
/// cell, otherwise the patch of the next coarser level. -1: none. Tests all patches.
int SourceOf(const Catalog& catalog, const std::vector<bool>& shown, const std::vector<int>& kinds, int kind,
    int level, Int3 cell)
{
  for (; level >= 0; --level) {
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      const Patch& patch = catalog.Patches[p];
      if (patch.Level == level && shown[p] && kinds[p] == kind && testing::Contains(patch.Cells, cell)) {
        return static_cast<int>(p);
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      cell[axis] = FloorDivide(cell[axis], catalog.Levels[level].Ratio[axis]);
    }
  }
  return -1;
}

Int3 RatioTo(const Catalog& catalog, int level, int coarser)
{
  Int3 ratio{1, 1, 1};
  for (; level > coarser; --level) {
    for (int axis = 0; axis < 3; ++axis) {
      ratio[axis] *= catalog.Levels[level].Ratio[axis];
    }
  }
  return ratio;
}

void ExpectGhostsFromNeighbours(
    const Catalog& catalog, const std::vector<bool>& shown, const std::vector<int>& kinds, const Block& block)
{
  std::map<Int3, int> owners;
  for (const OwnedBox& part : block.Parts) {
    testing::ForEachCell(part.Cells, [&](const Int3& cell) { owners[cell] = part.Owner; });
  }
  for (const Region& region : block.GhostRegions) {
    ASSERT_TRUE(testing::Within(region.Cells, GridCells(block)));
    EXPECT_EQ(region.Ratio, RatioTo(catalog, block.Level, catalog.Patches[region.Owner].Level));
    testing::ForEachCell(region.Cells,
        [&](const Int3& cell) { ASSERT_TRUE(owners.emplace(cell, region.Owner).second) << "twice"; });
  }
  const int kind = kinds[block.Parts[0].Owner];
  // One more cell on each side. There must be no source on sides where the grid has not grown.
  const Int3 layers{1, 1, catalog.Dimension == 3 ? 1 : 0};
  Box sources = block.Cells;
  testing::ForEachCell(Grow(block.Cells, layers), [&](const Int3& cell) {
    const auto found = owners.find(cell);
    const int source = SourceOf(catalog, shown, kinds, kind, block.Level, cell);
    ASSERT_EQ(found == owners.end() ? -1 : found->second, source)
        << cell[0] << " " << cell[1] << " " << cell[2];
    for (int axis = 0; axis < 3 && source >= 0; ++axis) {
      sources.Lower[axis] = std::min(sources.Lower[axis], cell[axis]);
      sources.Upper[axis] = std::max(sources.Upper[axis], cell[axis]);
    }
  });
  EXPECT_EQ(GridCells(block), sources) << "a side without any cell has grown, or one with some has not";
}

}  // namespace

TEST(GhostLayer, TakesEachCellFromTheFinestPatchThatHasIt)
{
  Dice dice(1);
  int fringes = 0, coarser = 0;
  for (int round = 0; round < 200; ++round) {
    const Catalog catalog = testing::LevelsAtRandom(dice);
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const std::vector<int> kinds = PatchTypes(catalog, {0, 1});
    const Nesting nesting(catalog, shown);
    BlockOptions options;
    options.Merge = dice.Between(0, 3) > 0;
    options.Cover = {dice.Between(0, 1) == 0 ? 1 << 26 : 60, 30 * dice.Between(0, 2)};
    for (Block& block : MakeBlocks(catalog, shown, kinds, nesting, dice.Between(0, 1) == 0, options)) {
      const Box before = block.Cells;
      AddGhostLayer(catalog, nesting, kinds, block);
      EXPECT_EQ(block.Cells, before);
      ExpectGhostsFromNeighbours(catalog, shown, kinds, block);
      ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
      for (const Region& region : block.GhostRegions) {
        ++fringes;
        coarser += region.Ratio != Int3{1, 1, 1} ? 1 : 0;
      }
    }
  }
  EXPECT_GT(fringes, 1000);
  EXPECT_GT(coarser, 300);
}

TEST(GhostLayer, AtTheEndOfTheIndexSpaceIsSafe)
{
  constexpr int far = 1 << 30;
  Catalog catalog;
  catalog.Dimension = 2;
  testing::AddLevel(catalog, {{{-far, -far, 0}, {-far + 1, far, 0}}, {{far, -far, 0}, {far, far, 0}}});
  testing::AddLevel(catalog, {{{far - 1, -far, 0}, {far, -far + 1, 0}}}, {2, 2, 1});
  const std::vector<bool> shown(3, true);
  for (int p = 0; p < 3; ++p) {
    Block block = BlockOfPatch(catalog, p);
    AddGhostLayer(catalog, Nesting(catalog, shown), {0, 0, 0}, block);
    for (const Region& region : block.GhostRegions) {
      EXPECT_TRUE(testing::Within(region.Cells, GridCells(block)));
    }
  }
}

TEST(GhostLayer, OfABlockOfManyPatchesBesideManyOthers)
{
  // Patches on every second place of a chequerboard beside the block.
  Catalog catalog;
  std::vector<Box> boxes{{{0, 0, 0}, {199, 199, 0}}};
  for (int j = 0; j < 200; ++j) {
    for (int i = j % 2; i < 200; i += 2) {
      boxes.push_back({{i, j, 1}, {i, j, 1}});
    }
  }
  testing::AddLevel(catalog, boxes);
  const std::vector<bool> shown(boxes.size(), true);
  const std::vector<int> kinds(boxes.size(), 0);
  Block block = BlockOfPatch(catalog, 0);
  AddGhostLayer(catalog, Nesting(catalog, shown), kinds, block);
  EXPECT_EQ(block.GhostRegions.size(), boxes.size() - 1);
}

}  // namespace patchio
