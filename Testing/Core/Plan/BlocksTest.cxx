#include "Plan/Blocks.h"

#include "Plan/Partition.h"
#include "RandomLevels.h"

#include <map>

namespace patchio {
namespace {

using testing::AddLevel;
using testing::Dice;

BlockOptions Merging(std::int64_t mostCells = 1 << 26, std::int64_t cellsWorthABox = 8000)
{
  BlockOptions options;
  options.Merge = true;
  options.Cover = {mostCells, cellsWorthABox};
  return options;
}

std::vector<Block> MergeAll(const Catalog& catalog, bool hideRefined = true,
    const std::vector<int>& variables = {}, const BlockOptions& options = Merging())
{
  const std::vector<bool> shown(catalog.Patches.size(), true);
  return MakeBlocks(
      catalog, shown, PatchTypes(catalog, variables), Nesting(catalog, shown), hideRefined, options);
}

Catalog FourInARow()
{
  Catalog catalog;
  catalog.Dimension = 2;
  AddLevel(catalog,
      {{{0, 0, 0}, {3, 3, 0}}, {{4, 0, 0}, {7, 3, 0}}, {{8, 0, 0}, {11, 3, 0}}, {{12, 0, 0}, {15, 3, 0}}});
  catalog.Variables.push_back({"a", Centering::Cell, 1, {0, 0, 0}, "a", -1});
  catalog.Variables.push_back({"b", Centering::Cell, 1, {0, 0, 0}, "b", -1});
  catalog.ResetPresence();
  for (int p = 0; p < 4; ++p) {
    catalog.SetPresence(0, p, Presence::Stored);
  }
  return catalog;
}

/// Returns one flag per cell: whether a single shown patch covers all of it.
std::map<Int3, bool> RefinedCells(const Catalog& catalog, const std::vector<bool>& shown, int level)
{
  std::map<Int3, bool> refined;
  const Level& finer = catalog.Levels[level + 1];
  for (int p = finer.FirstPatch; p < finer.FirstPatch + finer.PatchCount; ++p) {
    testing::ForEachCell(Coarsen(catalog.Patches[p].Cells, finer.Ratio), [&](const Int3& cell) {
      const bool all = testing::Within(Refine({cell, cell}, finer.Ratio), catalog.Patches[p].Cells);
      refined[cell] = refined[cell] || (shown[p] && all);
    });
  }
  return refined;
}

/// Returns, for each level and cell, the first shown patch that has the cell.
std::map<std::pair<int, Int3>, int> OwnersOf(const Catalog& catalog, const std::vector<bool>& shown)
{
  std::map<std::pair<int, Int3>, int> owners;
  for (int p = 0; p < static_cast<int>(shown.size()); ++p) {
    const Patch& patch = catalog.Patches[p];
    testing::ForEachCell(shown[p] ? patch.Cells : Box(),
        [&](const Int3& cell) { owners.emplace(std::make_pair(patch.Level, cell), p); });
  }
  return owners;
}

/// Checks the guarantees of MakeBlocks(), cell by cell.
void ExpectBlocksHaveEachCell(const Catalog& catalog, const std::vector<bool>& shown,
    const std::vector<int>& kinds, bool hideRefined, const std::vector<Block>& blocks)
{
  std::map<std::pair<int, Int3>, int> owners;
  std::map<std::pair<std::pair<int, int>, Int3>, int> blockOf;
  int before = -1, level = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    ASSERT_FALSE(block.Parts.empty());
    int lowest = block.Parts[0].Owner;
    testing::ForEachCell(block.Cells, [&](const Int3& cell) {
      const std::pair<int, int> place{block.Level, kinds[block.Parts[0].Owner]};
      ASSERT_TRUE(blockOf.emplace(std::make_pair(place, cell), b).second) << "blocks of one kind overlap";
    });
    std::int64_t cells = 0;
    for (const OwnedBox& part : block.Parts) {
      EXPECT_EQ(catalog.Patches[part.Owner].Level, block.Level);
      EXPECT_EQ(kinds[part.Owner], kinds[block.Parts[0].Owner]);
      ASSERT_TRUE(testing::Within(part.Cells, block.Cells));
      ASSERT_TRUE(testing::Within(part.Cells, catalog.Patches[part.Owner].Cells));
      testing::ForEachCell(part.Cells, [&](const Int3& cell) {
        ASSERT_TRUE(owners.emplace(std::make_pair(block.Level, cell), part.Owner).second) << "parts overlap";
      });
      lowest = std::min(lowest, part.Owner);
      cells += part.Cells.CellCount();
    }
    EXPECT_TRUE(!block.Full || cells == block.Cells.CellCount());
    EXPECT_EQ(GridCells(block), block.Cells);
    EXPECT_TRUE(block.Level > level || lowest >= before) << "out of order";
    EXPECT_GE(block.Level, level);
    level = block.Level;
    before = lowest;
  }
  const auto rightful = OwnersOf(catalog, shown);
  for (int l = 0; l < static_cast<int>(catalog.Levels.size()); ++l) {
    std::map<Int3, bool> refined;
    if (hideRefined && l + 1 < static_cast<int>(catalog.Levels.size())) {
      refined = RefinedCells(catalog, shown, l);
    }
    const Level& info = catalog.Levels[l];
    for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
      testing::ForEachCell(catalog.Patches[p].Cells, [&](const Int3& cell) {
        const auto found = owners.find({l, cell});
        const bool needed = shown[p] && !refined[cell];
        ASSERT_TRUE(!needed || found != owners.end()) << "a cell is lost";
        ASSERT_TRUE(found == owners.end() || found->second == rightful.at({l, cell}));
      });
    }
  }
}

/// Makes some patches larger, as SAMRAI does with small patches.
void LetOverlap(Catalog& catalog, Dice& dice)
{
  for (Patch& patch : catalog.Patches) {
    for (int axis = 0; axis < catalog.Dimension; ++axis) {
      patch.Cells.Lower[axis] -= static_cast<int>(dice.Between(0, 2));
      patch.Cells.Upper[axis] += static_cast<int>(dice.Between(0, 1));
    }
  }
}

}  // namespace

TEST(Blocks, HaveEachVisibleCellOnce)
{
  Dice dice(1);
  for (int round = 0; round < 400; ++round) {
    Catalog catalog = testing::LevelsAtRandom(dice);
    if (round % 2 == 1) {
      LetOverlap(catalog, dice);
    }
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const std::vector<int> kinds = PatchTypes(catalog, {0, 1});
    const bool hideRefined = dice.Between(0, 1) == 0;
    const auto blocks = MakeBlocks(catalog, shown, kinds, Nesting(catalog, shown), hideRefined,
        Merging(dice.Between(0, 1) == 0 ? 1 << 26 : 200, 100 * dice.Between(0, 2)));
    ExpectBlocksHaveEachCell(catalog, shown, kinds, hideRefined, blocks);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(Blocks, AreOnePatchEachUnlessMerged)
{
  const Catalog catalog = FourInARow();
  const std::vector<bool> shown{true, false, true, true};
  const auto blocks =
      MakeBlocks(catalog, shown, PatchTypes(catalog, {}), Nesting(catalog, shown), true, BlockOptions());
  ASSERT_EQ(blocks.size(), 3u);
  for (int b = 0; b < 3; ++b) {
    const int patch = b == 0 ? 0 : b + 1;
    EXPECT_EQ(blocks[b].Cells, catalog.Patches[patch].Cells);
    ASSERT_EQ(blocks[b].Parts.size(), 1u);
    EXPECT_EQ(blocks[b].Parts[0].Owner, patch);
    EXPECT_TRUE(blocks[b].Full);
  }
}

TEST(Blocks, JoinNeighboursOfOneKind)
{
  Catalog catalog = FourInARow();
  EXPECT_EQ(MergeAll(catalog, true, {0}).size(), 1u);
  catalog.SetPresence(1, 2, Presence::Stored);
  catalog.SetPresence(1, 3, Presence::Zero);
  EXPECT_EQ(MergeAll(catalog, true, {0}).size(), 1u) << "nobody asks for b";
  const auto blocks = MergeAll(catalog, true, {0, 1});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].Cells, (Box{{0, 0, 0}, {7, 3, 0}}));
  EXPECT_EQ(blocks[1].Cells, (Box{{8, 0, 0}, {15, 3, 0}})) << "stored or constant: both exist";
}

TEST(Blocks, LeaveOutWhatIsRefinedWhereThatIsHidden)
{
  Catalog catalog = FourInARow();
  AddLevel(catalog, {{{0, 0, 0}, {7, 7, 0}}, {{8, 0, 0}, {15, 7, 0}}}, {2, 2, 1});
  const auto options = Merging(1 << 26, 0);
  const auto hidden = MergeAll(catalog, true, {}, options);
  ASSERT_EQ(hidden.size(), 2u);
  EXPECT_EQ(hidden[0].Cells, (Box{{8, 0, 0}, {15, 3, 0}}));
  EXPECT_EQ(hidden[1].Cells, (Box{{0, 0, 0}, {15, 7, 0}}));
  EXPECT_EQ(hidden[1].Level, 1);
  const auto all = MergeAll(catalog, false, {}, options);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].Cells, (Box{{0, 0, 0}, {15, 3, 0}}));
}

TEST(Blocks, LeaveALevelAsItIsWhoseOwnersAreNotKnown)
{
  Catalog catalog;
  std::vector<Box> plates;
  for (int i = 0; i < 3000; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      plates.push_back({{0, 0, 0}, {9999, 9999, 9999}});
      plates.back().Lower[axis] = plates.back().Upper[axis] = 3 * i;
    }
  }
  AddLevel(catalog, {{{0, 0, 0}, {9999, 9999, 9999}}});
  AddLevel(catalog, plates);
  const auto blocks = MergeAll(catalog);
  ASSERT_EQ(blocks.size(), 9001u);
  EXPECT_EQ(blocks[9].Cells, plates[8]);
}

namespace {

/// Returns the patch whose value each cell of a block's grid has.
std::map<Int3, int> ValuesOf(const Block& block)
{
  std::map<Int3, int> values;
  const auto add = [&](const Box& cells, int owner) {
    testing::ForEachCell(cells, [&](const Int3& cell) {
      EXPECT_TRUE(testing::Within({cell, cell}, GridCells(block)));
      EXPECT_TRUE(values.emplace(cell, owner).second) << "two values for a cell";
    });
  };
  for (const OwnedBox& part : block.Parts) {
    add(part.Cells, part.Owner);
  }
  for (const Region& region : block.GhostRegions) {
    EXPECT_EQ(region.Ratio, (Int3{1, 1, 1}));
    add(region.Cells, region.Owner);
  }
  return values;
}

/// Checks the guarantees of CutToPatches() for one block and its parts.
void ExpectAllAroundEachCell(const Block& whole, const std::vector<bool>& kept, const std::vector<Block>& cut)
{
  const std::map<Int3, int> all = ValuesOf(whole);
  std::map<Int3, int> seen;
  for (const Block& block : cut) {
    const std::map<Int3, int> values = ValuesOf(block);
    for (const OwnedBox& part : block.Parts) {
      testing::ForEachCell(part.Cells, [&](const Int3& cell) {
        EXPECT_TRUE(kept[part.Owner] && seen.emplace(cell, part.Owner).second) << "a cell twice";
        testing::ForEachCell(Grow({cell, cell}, {1, 1, 1}), [&](const Int3& near) {
          const auto there = all.find(near);
          const auto found = values.find(near);
          const bool wanted = there != all.end() && kept[there->second];
          ASSERT_EQ(found != values.end() ? found->second : -1, wanted ? there->second : -1);
        });
      });
    }
  }
  for (const auto& [cell, owner] : all) {
    EXPECT_EQ(seen.count(cell), kept[owner] ? 1u : 0u);
  }
}

}  // namespace

TEST(Blocks, CutToSomePatchesKeepWhatIsAroundThese)
{
  Dice dice(5);
  int cuts = 0;
  for (int round = 0; round < 300; ++round) {
    Catalog catalog = testing::LevelsAtRandom(dice);
    if (round % 3 == 1) {
      LetOverlap(catalog, dice);
    }
    std::vector<bool> kept;
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      kept.push_back(dice.Between(0, 2) > 0);
    }
    const CoverOptions cover{1 << 26, 100 * dice.Between(0, 2)};
    for (const Block& block : MergeAll(catalog, true, {}, Merging(1 << 26, 100 * dice.Between(0, 2)))) {
      const std::vector<Block> cut = CutToPatches({block}, kept, cover);
      ExpectAllAroundEachCell(block, kept, cut);
      if (cut.size() == 1 && cut[0].Origin == CutFrom::Nothing) {
        EXPECT_EQ(cut[0], block) << "nothing was left out";
      }
      cuts += cut.size() > 1 ? 1 : 0;
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(cuts, 50);
}

TEST(Blocks, CutOutOfOneKnowWhetherItHadGaps)
{
  Catalog catalog = FourInARow();
  const std::vector<bool> kept{true, false, true, true};
  const CoverOptions exact{1 << 26, 0};
  auto cut = CutToPatches(MergeAll(catalog), kept, exact);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].Origin, CutFrom::BlockWithoutGaps);
  EXPECT_TRUE(cut[0].GhostRegions.empty()) << "what is not kept is not beside it either";
  catalog.Patches[2].Cells.Upper[1] = 1;
  cut = CutToPatches(MergeAll(catalog), kept, exact);
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_EQ(cut[0].Origin, CutFrom::BlockWithGaps);
  EXPECT_TRUE(CutToPatches(MergeAll(catalog), std::vector<bool>(4, false), exact).empty());
}

TEST(Blocks, OfCurvilinearGridsArePatches)
{
  Catalog catalog = FourInARow();
  catalog.Grid = GridType::Curvilinear;
  EXPECT_EQ(MergeAll(catalog).size(), 4u);
}

TEST(Blocks, OfNothingAreNone)
{
  const Catalog catalog = FourInARow();
  const std::vector<bool> none(4, false);
  for (const bool merge : {false, true}) {
    BlockOptions options;
    options.Merge = merge;
    EXPECT_TRUE(
        MakeBlocks(catalog, none, PatchTypes(catalog, {}), Nesting(catalog, none), true, options).empty());
  }
}

TEST(Blocks, AreNamedAfterTheirPatches)
{
  Catalog catalog = FourInARow();
  AddLevel(catalog, {{{0, 0, 0}, {7, 7, 0}}, {{8, 0, 0}, {15, 7, 0}}, {{24, 0, 0}, {31, 7, 0}}}, {2, 2, 1});
  EXPECT_EQ(NameOfBlock(catalog, BlockOfPatch(catalog, 3)), "patch 3");
  EXPECT_EQ(NameOfBlock(catalog, BlockOfPatch(catalog, 5)), "patch 1") << "within its level";
  const auto blocks = MergeAll(catalog, false, {}, Merging(1 << 26, 0));
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(NameOfBlock(catalog, blocks[0]), "4 patches, 0 to 3");
  EXPECT_EQ(NameOfBlock(catalog, blocks[1]), "2 patches, 0 to 1");
  EXPECT_EQ(NameOfBlock(catalog, blocks[2]), "patch 2");
  Block twoParts;
  twoParts.Parts = {{{{0, 0, 0}, {0, 3, 0}}, 2}, {{{2, 0, 0}, {3, 3, 0}}, 2}};
  EXPECT_EQ(NameOfBlock(catalog, twoParts), "patch 2");
}

TEST(Kinds, AreEqualWhereTheSameVariablesExist)
{
  Dice dice(4);
  for (int round = 0; round < 50; ++round) {
    Catalog catalog;
    AddLevel(catalog, std::vector<Box>(30, Box{{0, 0, 0}, {0, 0, 0}}));
    catalog.Variables.resize(5);
    catalog.ResetPresence();
    for (int v = 0; v < 5; ++v) {
      for (int p = 0; p < 30; ++p) {
        catalog.SetPresence(v, p, static_cast<Presence>(dice.Between(0, 3)));
      }
    }
    const std::vector<int> variables{0, 3, 4};
    const std::vector<int> kinds = PatchTypes(catalog, variables);
    for (int a = 0; a < 30; ++a) {
      for (int b = 0; b < 30; ++b) {
        const bool alike = std::all_of(variables.begin(), variables.end(), [&](int v) {
          return (catalog.PresenceOf(v, a) == Presence::Absent) ==
                 (catalog.PresenceOf(v, b) == Presence::Absent);
        });
        ASSERT_EQ(kinds[a] == kinds[b], alike);
      }
    }
  }
  EXPECT_EQ(PatchTypes(FourInARow(), {}), (std::vector<int>{0, 0, 0, 0}));
}

TEST(PartitionOfBlocks, SpreadsThemByWeight)
{
  const auto blocks = MergeAll(FourInARow(), true, {}, Merging(16, 0));
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(PartitionBlocks(blocks, {0, 0, 1, 1}, {1, 1, 1, 1}, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(PartitionBlocks(blocks, {0, 0, 1, 1}, {9, 1, 1, 1}, 2), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(PartitionBlocks(blocks, {3, 3, 8, 8}, {1, 1, 1, 1}, 9), (std::vector<int>{3, 0, 8, 1}));
}

}  // namespace patchio
