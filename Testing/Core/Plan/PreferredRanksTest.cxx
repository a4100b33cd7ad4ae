#include "Plan/Partition.h"

#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "RandomLevels.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace patchio {
namespace {

using testing::AddLevel;
using testing::Dice;

/// Returns patches of 4^3 cells that fill a box of `count` patches.
std::vector<Box> Tiles(const Int3& count, const Int3& first = {0, 0, 0})
{
  std::vector<Box> boxes;
  for (int k = 0; k < count[2]; ++k) {
    for (int j = 0; j < count[1]; ++j) {
      for (int i = 0; i < count[0]; ++i) {
        const Int3 lower{4 * (first[0] + i), 4 * (first[1] + j), 4 * (first[2] + k)};
        boxes.push_back({lower, {lower[0] + 3, lower[1] + 3, lower[2] + 3}});
      }
    }
  }
  return boxes;
}

/// Returns three levels of many equal patches. The finer levels are in a corner.
Catalog NestedTiles()
{
  Catalog catalog;
  AddLevel(catalog, Tiles({4, 4, 4}));
  AddLevel(catalog, Tiles({5, 6, 7}, {1, 0, 1}), {2, 2, 2});
  AddLevel(catalog, Tiles({9, 9, 9}, {3, 2, 4}), {2, 2, 2});
  return catalog;
}

std::vector<double> CellsOfParts(
    const Catalog& catalog, const std::vector<int>& preferred, int parts, const Level& level)
{
  std::vector<double> cells(parts, 0);
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    cells.at(preferred[p]) += static_cast<double>(catalog.Patches[p].Cells.CellCount());
  }
  return cells;
}

std::vector<int> PatchesOfLevels(const Catalog& catalog, int first, int last)
{
  std::vector<int> patches;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    if (catalog.Patches[p].Level >= first && catalog.Patches[p].Level <= last) {
      patches.push_back(static_cast<int>(p));
    }
  }
  return patches;
}

std::vector<std::int64_t> CellsOf(const Catalog& catalog, const std::vector<int>& patches)
{
  std::vector<std::int64_t> cells;
  for (const int p : patches) {
    cells.push_back(catalog.Patches[p].Cells.CellCount());
  }
  return cells;
}

/// Expects that each part has at most 1.1 times the mean plus the heaviest patch. Each part has a patch if
/// there are enough; part 0 always has one.
void ExpectBalanced(
    const std::vector<int>& parts, const std::vector<std::int64_t>& weights, int count, const char* what)
{
  std::vector<double> load(count, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    load.at(parts[i]) += static_cast<double>(weights[i]);
  }
  const double total = std::accumulate(load.begin(), load.end(), 0.0);
  const auto heaviest = static_cast<double>(*std::max_element(weights.begin(), weights.end()));
  EXPECT_LE(*std::max_element(load.begin(), load.end()), 1.1 * total / count + heaviest)
      << what << ", " << count << " parts";
  const std::size_t used = std::set<int>(parts.begin(), parts.end()).size();
  EXPECT_TRUE(parts.size() < static_cast<std::size_t>(count) || used == static_cast<std::size_t>(count))
      << what << ": " << used << " of " << count << " parts have something";
  EXPECT_TRUE(std::count(parts.begin(), parts.end(), 0) > 0) << what;
}

}  // namespace

TEST(PreferredRanks, AreThePartsOfEqualPatchesEvenlyOnEachLevel)
{
  const Catalog catalog = NestedTiles();
  for (int parts = 1; parts <= 16; ++parts) {
    const std::vector<int> preferred = PreferredRanks(catalog, parts);
    ASSERT_EQ(preferred.size(), catalog.Patches.size());
    for (const Level& level : catalog.Levels) {
      const std::vector<double> cells = CellsOfParts(catalog, preferred, parts, level);
      const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
      EXPECT_LE(*most - *least, 64) << parts << " parts";  // one patch
    }
  }
}

TEST(PreferredRanks, DivideEachLevelAtRandomUpToTwoPatches)
{
  for (unsigned seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Catalog catalog = testing::LevelsAtRandom(dice);
    for (int parts = 1; parts <= 16; ++parts) {
      const std::vector<int> preferred = PreferredRanks(catalog, parts);
      for (const Level& level : catalog.Levels) {
        const std::vector<double> cells = CellsOfParts(catalog, preferred, parts, level);
        const double total = std::accumulate(cells.begin(), cells.end(), 0.0);
        double largest = 0;
        std::set<int> used;
        for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
          largest = std::max(largest, static_cast<double>(catalog.Patches[p].Cells.CellCount()));
          used.insert(preferred[p]);
        }
        EXPECT_LE(*std::max_element(cells.begin(), cells.end()), total / parts + 2 * largest)
            << "seed " << seed << ", " << parts << " parts";
        EXPECT_EQ(static_cast<int>(used.size()), std::min(parts, level.PatchCount))
            << "seed " << seed << ", " << parts << " parts";
      }
    }
  }
}

TEST(PreferredRanks, AreBoxesWherePatchesAreTiles)
{
  Catalog catalog;
  AddLevel(catalog, Tiles({4, 8, 2}));
  const std::vector<int> preferred = PreferredRanks(catalog, 4);
  for (int p = 0; p < 64; ++p) {
    EXPECT_EQ(preferred[p], catalog.Patches[p].Cells.Lower[1] / 8) << "patch " << p;
  }
}

TEST(PreferredRanks, KeepPartitionsOfAMeshInTheirOrder)
{
  Catalog catalog;
  catalog.Grid = GridType::Unstructured;
  const std::vector<int> cells{5, 3, 5, 3, 5, 3, 5, 3};
  std::vector<Box> boxes;
  for (const int count : cells) {
    boxes.push_back({{0, 0, 0}, {count - 1, 0, 0}});
  }
  testing::AddLevel(catalog, boxes);
  EXPECT_EQ(PreferredRanks(catalog, 4), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(PreferredRanks, OfLevelsOfOnePatchAreNotAllTheSame)
{
  Catalog catalog;
  for (int level = 0; level < 4; ++level) {
    AddLevel(catalog, {{{0, 0, 0}, {7, 7, 7}}}, {2, 2, 2});
  }
  const std::vector<int> preferred = PreferredRanks(catalog, 4);
  EXPECT_EQ(std::set<int>(preferred.begin(), preferred.end()).size(), 4u);
  EXPECT_EQ(preferred[0], 0);
}

TEST(PreferredRanks, TakeLevelsWithoutPatchesAndHugeBoxes)
{
  Catalog catalog;
  AddLevel(catalog, {});
  constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  AddLevel(catalog, {{{least, least, least}, {-1, most, most}}, {{0, least, least}, {most, most, most}}});
  std::vector<int> preferred = PreferredRanks(catalog, 2);
  std::sort(preferred.begin(), preferred.end());
  EXPECT_EQ(preferred, (std::vector<int>{0, 1}));
}

TEST(PreferredRanks, AreKeptByAllChoicesOfLevels)
{
  const Catalog catalog = NestedTiles();
  for (int parts = 1; parts <= 16; ++parts) {
    const std::vector<int> preferred = PreferredRanks(catalog, parts);
    for (int first = 0; first < 3; ++first) {
      for (int last = first; last < 3; ++last) {
        const std::vector<int> patches = PatchesOfLevels(catalog, first, last);
        const auto result = PartitionPatches(catalog, patches, CellsOf(catalog, patches), parts);
        for (std::size_t i = 0; i < patches.size(); ++i) {
          ASSERT_EQ(result[i], preferred[patches[i]])
              << "levels " << first << " to " << last << ", " << parts;
        }
      }
    }
  }
}

TEST(PreferredRanks, AreLeftAsFarAsBalanceDemands)
{
  for (unsigned seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const Catalog catalog = testing::LevelsAtRandom(dice);
    const int last = static_cast<int>(catalog.Levels.size()) - 1;
    for (int parts = 1; parts <= 16; ++parts) {
      for (int level = 0; level <= last; ++level) {
        for (const auto& patches :
            {PatchesOfLevels(catalog, 0, level), PatchesOfLevels(catalog, level, last)}) {
          const auto weights = CellsOf(catalog, patches);
          ExpectBalanced(PartitionPatches(catalog, patches, weights, parts), weights, parts, "levels");
        }
      }
    }
  }
}

TEST(PreferredRanks, BalanceRegions)
{
  const Catalog catalog = NestedTiles();
  Dice dice(5);
  for (int trial = 0; trial < 100; ++trial) {
    RegionOfInterest region;
    region.Type = RegionOfInterest::Shape::InBox;
    for (int axis = 0; axis < 3; ++axis) {
      region.Lower[axis] = static_cast<double>(dice.Between(0, 15));
      region.Upper[axis] = static_cast<double>(dice.Between(0, 15));
    }
    const std::vector<bool> near = PatchesNear(catalog, region);
    std::vector<int> patches;
    std::vector<std::int64_t> weights;
    for (std::size_t p = 0; p < near.size(); ++p) {
      if (near[p]) {
        patches.push_back(static_cast<int>(p));
        weights.push_back(dice.Between(1, 5000));
      }
    }
    for (int parts = 1; parts <= 16 && !patches.empty(); ++parts) {
      ExpectBalanced(PartitionPatches(catalog, patches, weights, parts), weights, parts, "region");
    }
  }
}

TEST(PreferredRanks, AreThoseOfAllPatchesOfABlock)
{
  for (unsigned seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const Catalog catalog = testing::LevelsAtRandom(dice);
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const std::vector<int> kinds = PatchTypes(catalog, {0, 1});
    BlockOptions options;
    options.Merge = true;
    for (const int parts : {2, 3, 8}) {
      const std::vector<int> preferred = PreferredRanks(catalog, parts);
      for (const Block& block : MakeBlocks(catalog, shown, TypesByPreferredRank(kinds, preferred),
               Nesting(catalog, shown), dice.Between(0, 1) == 0, options)) {
        for (const OwnedBox& part : block.Parts) {
          EXPECT_EQ(preferred[part.Owner], preferred[block.Parts[0].Owner]) << "seed " << seed;
          EXPECT_EQ(kinds[part.Owner], kinds[block.Parts[0].Owner]) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace patchio
