#include "Plan/BlockLayout.h"

#include "Plan/Blocks.h"
#include "RandomLevels.h"

#include <map>
#include <set>

namespace patchio {
namespace {

using testing::Dice;

Box NodesOf(const Catalog& catalog, Box cells)
{
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    ++cells.Upper[axis];
  }
  return cells;
}

/// Patch and ratio of each value.
using Owners = std::map<Int3, std::pair<int, Int3>>;

Owners CellsNaively(const Block& block)
{
  Owners owners;
  for (const OwnedBox& part : block.Parts) {
    testing::ForEachCell(part.Cells, [&](const Int3& cell) { owners[cell] = {part.Owner, {1, 1, 1}}; });
  }
  for (const Region& region : block.GhostRegions) {
    testing::ForEachCell(region.Cells, [&](const Int3& cell) {
      owners[cell] = {region.Owner, region.Ratio};
    });
  }
  return owners;
}

/// Returns the possible owners of each node: the block's own patch with the largest number; otherwise all
/// patches of the ghost region, of the same level, that have the node.
std::map<Int3, std::set<int>> NodesNaively(const Catalog& catalog, const Block& block)
{
  std::map<Int3, std::set<int>> owners;
  for (const OwnedBox& part : block.Parts) {
    testing::ForEachCell(NodesOf(catalog, part.Cells), [&](const Int3& node) {
      const int before = owners[node].empty() ? -1 : *owners[node].begin();
      owners[node] = {std::max(before, part.Owner)};
    });
  }
  std::map<Int3, std::set<int>> fringe;
  for (const Region& region : block.GhostRegions) {
    if (region.Ratio == Int3{1, 1, 1}) {
      testing::ForEachCell(
          NodesOf(catalog, region.Cells), [&](const Int3& node) { fringe[node].insert(region.Owner); });
    }
  }
  owners.insert(fringe.begin(), fringe.end());
  return owners;
}

void ExpectPlaced(
    const Catalog& catalog, const std::vector<Block>& blocks, const BlockLayout& layout, Centering centering)
{
  std::vector<Owners> placed(blocks.size());
  for (std::size_t s = 0; s < layout.Sources().size(); ++s) {
    const Placement* last = nullptr;
    for (const Placement* p = layout.Begin(s, centering); p != layout.End(s, centering); ++p) {
      ASSERT_LT(p->Block, blocks.size());
      ASSERT_TRUE(testing::Within(p->Region, layout.ValueBox(p->Block, centering)));
      ASSERT_TRUE(!last || last->Block <= p->Block) << "those of one block follow each other";
      last = p;
      testing::ForEachCell(p->Region, [&](const Int3& value) {
        ASSERT_TRUE(placed[p->Block].emplace(value, std::make_pair(layout.Sources()[s], p->Ratio)).second)
            << "a value from two patches";
      });
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (centering == Centering::Cell) {
      EXPECT_EQ(placed[b], CellsNaively(blocks[b]));
    } else {
      const auto expected = NodesNaively(catalog, blocks[b]);
      ASSERT_EQ(placed[b].size(), expected.size());
      for (const auto& [node, owners] : expected) {
        ASSERT_EQ(placed[b].count(node), 1u);
        EXPECT_EQ(owners.count(placed[b][node].first), 1u);
      }
    }
    const Box values = layout.ValueBox(b, centering);
    EXPECT_EQ(
        values, centering == Centering::Cell ? GridCells(blocks[b]) : NodesOf(catalog, GridCells(blocks[b])));
    EXPECT_EQ(
        layout.IsComplete(b, centering), placed[b].size() == static_cast<std::size_t>(values.CellCount()));
    const std::vector<std::uint8_t> filled = layout.FilledFlags(b, centering, layout.ValueBox(b, centering));
    ASSERT_EQ(filled.size(), static_cast<std::size_t>(values.CellCount()));
    std::size_t next = 0;
    testing::ForEachCell(
        values, [&](const Int3& value) { EXPECT_EQ(filled[next++], placed[b].count(value)); });
    const Box planes = layout.PlanesWithGaps(b, centering);
    EXPECT_EQ(planes.Empty(), layout.IsComplete(b, centering));
    testing::ForEachCell(values, [&](const Int3& value) {
      const bool inside = !planes.Empty() && value[2] >= planes.Lower[2] && value[2] <= planes.Upper[2];
      EXPECT_TRUE(inside || placed[b].count(value) == 1) << "a gap outside the planes";
    });
  }
}

}  // namespace

TEST(BlockLayout, HasAPlaceForEachValue)
{
  Dice dice(1);
  for (int round = 0; round < 100; ++round) {
    const Catalog catalog = testing::LevelsAtRandom(dice);
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const std::vector<int> kinds = PatchTypes(catalog, {0, 1});
    const Nesting nesting(catalog, shown);
    BlockOptions options;
    options.Merge = dice.Between(0, 3) > 0;
    options.Cover = {dice.Between(0, 1) == 0 ? 1 << 26 : 60, 30 * dice.Between(0, 2)};
    auto blocks = MakeBlocks(catalog, shown, kinds, nesting, dice.Between(0, 1) == 0, options);
    for (Block& block : blocks) {
      if (round % 2 == 0) {
        AddGhostLayer(catalog, nesting, kinds, block);
      }
    }
    const BlockLayout layout(catalog, blocks, true);
    std::set<int> sources;
    for (const Block& block : blocks) {
      for (const OwnedBox& part : block.Parts) {
        sources.insert(part.Owner);
      }
      for (const Region& region : block.GhostRegions) {
        sources.insert(region.Owner);
      }
    }
    EXPECT_EQ(layout.Sources(), std::vector<int>(sources.begin(), sources.end()));
    ExpectPlaced(catalog, blocks, layout, Centering::Cell);
    ExpectPlaced(catalog, blocks, layout, Centering::Node);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(BlockLayout, TakesALargePatchBesideManySmallOnes)
{
  // All 10^5 small patches precede the large one, and share every second node of one of its faces.
  Catalog catalog;
  constexpr int side = 450;
  std::vector<Box> boxes{{{0, 0, 0}, {side - 1, side - 1, 2}}};
  Block block;
  block.Cells = {{0, 0, 0}, {side - 1, side - 1, 3}};
  block.Full = false;
  for (int j = 0; j < side; ++j) {
    for (int i = j % 2; i < side; i += 2) {
      boxes.push_back({{i, j, 3}, {i, j, 3}});
    }
  }
  testing::AddLevel(catalog, boxes);
  for (std::size_t p = 0; p < boxes.size(); ++p) {
    block.Parts.push_back({boxes[p], static_cast<int>(p)});
  }
  const std::vector<Block> blocks{block};
  const BlockLayout layout(catalog, blocks, true);
  std::int64_t values = 0;
  for (std::size_t s = 0; s < layout.Sources().size(); ++s) {
    for (const Placement* p = layout.Begin(s, Centering::Node); p != layout.End(s, Centering::Node); ++p) {
      values += p->Region.CellCount();
    }
  }
  // All corners of the cells in the chequered layer are nodes, except those of two missing corners.
  const std::vector<std::uint8_t> filled =
      layout.FilledFlags(0, Centering::Node, layout.ValueBox(0, Centering::Node));
  EXPECT_EQ(values, std::count(filled.begin(), filled.end(), 1));
}

}  // namespace patchio
