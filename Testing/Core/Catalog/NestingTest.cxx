#include "Catalog/Nesting.h"

#include "RandomBoxes.h"
#include "TestTools.h"

#include <malloc.h>
#include <algorithm>
#include <cmath>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PATCHIO_SANITIZED 1
#endif

namespace patchio {
namespace {

using testing::AddLevel;
using testing::BoxesAtRandom;
using testing::Contains;
using testing::Dice;
using testing::ForEachCell;
using Flags = std::vector<std::uint8_t>;

std::vector<bool> All(const Catalog& catalog)
{
  return std::vector<bool>(catalog.Patches.size(), true);
}

/// Returns whether each fine cell of a coarse cell lies in one of the boxes: the definition, cell by cell.
bool CoveredByDefinition(const Int3& coarse, const Int3& ratio, const std::vector<Box>& fine)
{
  bool covered = true;
  ForEachCell(Refine({coarse, coarse}, ratio), [&](const Int3& cell) {
    covered =
        covered && std::any_of(fine.begin(), fine.end(), [&](const Box& box) { return Contains(box, cell); });
  });
  return covered;
}

/// Returns the flags of one patch for all boxes of the next level, by definition. The result is all zero
/// instead of empty.
Flags FlagsByDefinition(const Box& patch, const Int3& ratio, const std::vector<Box>& fine)
{
  Flags flags;
  ForEachCell(
      patch, [&](const Int3& cell) { flags.push_back(CoveredByDefinition(cell, ratio, fine) ? 1 : 0); });
  return flags;
}

std::vector<Box> ShownBoxesOf(const Catalog& catalog, int level, const std::vector<bool>& shown)
{
  std::vector<Box> boxes;
  const Level& info = catalog.Levels[level];
  for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
    if (shown[p]) {
      boxes.push_back(catalog.Patches[p].Cells);
    }
  }
  return boxes;
}

void ExpectFlagsByDefinition(const Catalog& catalog, const std::vector<bool>& shown)
{
  const Nesting nesting(catalog, shown);
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    if (patch.Level + 1 == static_cast<int>(catalog.Levels.size())) {
      EXPECT_TRUE(nesting.CoveredCells(p).empty());
      continue;
    }
    const std::vector<Box> fine = ShownBoxesOf(catalog, patch.Level + 1, shown);
    const Flags expected = FlagsByDefinition(patch.Cells, catalog.Levels[patch.Level + 1].Ratio, fine);
    const bool any = std::count(expected.begin(), expected.end(), 1) > 0;
    EXPECT_EQ(nesting.CoveredCells(p), any ? expected : Flags()) << "patch " << p;
  }
}

void ExpectChildrenByDefinition(const Catalog& catalog, const std::vector<bool>& shown)
{
  const Nesting nesting(catalog, shown);
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    std::vector<int> expected;
    for (std::size_t q = 0; q < catalog.Patches.size(); ++q) {
      const Patch& child = catalog.Patches[q];
      if (child.Level == catalog.Patches[p].Level + 1 && shown[q] &&
          !Intersect(Coarsen(child.Cells, catalog.Levels[child.Level].Ratio), catalog.Patches[p].Cells)
               .Empty()) {
        expected.push_back(static_cast<int>(q));
      }
    }
    EXPECT_EQ(nesting.ChildrenOf(p), expected) << "patch " << p;
  }
}

/// Returns the first shown patch of a level that has the cell; -1 if there is none.
int OwnerByDefinition(const Catalog& catalog, const std::vector<bool>& shown, int level, const Int3& cell)
{
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    if (shown[p] && catalog.Patches[p].Level == level && Contains(catalog.Patches[p].Cells, cell)) {
      return static_cast<int>(p);
    }
  }
  return -1;
}

int CountContaining(const std::vector<Box>& boxes, const Int3& cell)
{
  return static_cast<int>(
      std::count_if(boxes.begin(), boxes.end(), [&](const Box& box) { return Contains(box, cell); }));
}

/// Compares owners with the definition, for boxes that overlap within their levels.
void ExpectOwnersByDefinition(const Catalog& catalog, const std::vector<bool>& shown)
{
  const Nesting nesting(catalog, shown);
  for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
    const Patch& patch = catalog.Patches[p];
    const std::vector<Box> own = nesting.OwnedCells(p), under = nesting.CoveredBoxes(p);
    Flags covered = nesting.CoveredCells(p), elsewhere = nesting.CellsShownElsewhere(p);
    covered.resize(patch.Cells.CellCount());
    elsewhere.resize(patch.Cells.CellCount());
    std::size_t c = 0;
    bool loses = false;
    ForEachCell(patch.Cells, [&](const Int3& cell) {
      const int owner = OwnerByDefinition(catalog, shown, patch.Level, cell);
      const bool others = shown[p] && owner != p;
      loses = loses || others;
      EXPECT_EQ(CountContaining(own, cell), others ? 0 : 1);
      EXPECT_EQ(elsewhere[c] != 0, others || covered[c] != 0);
      EXPECT_LE(CountContaining(under, cell), !others && covered[c] ? 1 : 0);
      ++c;
    });
    EXPECT_EQ(nesting.HasUnownedCells(p), loses);
    EXPECT_TRUE(nesting.KnowsOwners(patch.Level));
  }
}

struct RandomCase
{
  const char* Name;
  int Dimension;
  Int3 Ratio;
  bool Aligned;  ///< edges of fine boxes lie on edges of coarse cells
};

Catalog MakeRandom(const RandomCase& wanted, Dice& dice)
{
  Catalog catalog;
  catalog.Dimension = wanted.Dimension;
  AddLevel(catalog, BoxesAtRandom(wanted.Dimension, 6, -9, 3, 8, dice));
  for (int level = 1; level <= 2; ++level) {
    std::vector<Box> boxes = wanted.Aligned ? BoxesAtRandom(wanted.Dimension, 12, -8, 5, 6, dice)
                                            : BoxesAtRandom(wanted.Dimension, 12, -20, 8, 12, dice);
    for (Box& box : boxes) {
      box = wanted.Aligned ? Refine(box, wanted.Ratio) : box;
    }
    AddLevel(catalog, boxes, wanted.Ratio);
  }
  return catalog;
}

std::vector<bool> ShowTwoOfThree(const Catalog& catalog, Dice& dice)
{
  std::vector<bool> shown;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    shown.push_back(dice.Between(0, 2) > 0);
  }
  return shown;
}

class NestingOfRandomBoxes : public ::testing::TestWithParam<RandomCase>
{
};

}  // namespace

TEST_P(NestingOfRandomBoxes, AgreesWithTheDefinition)
{
  Dice dice(12345);
  for (int round = 0; round < 10; ++round) {
    const Catalog catalog = MakeRandom(GetParam(), dice);
    for (const std::vector<bool>& shown : {All(catalog), ShowTwoOfThree(catalog, dice)}) {
      ExpectFlagsByDefinition(catalog, shown);
      ExpectChildrenByDefinition(catalog, shown);
      ExpectOwnersByDefinition(catalog, shown);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NestingOfRandomBoxes,
    ::testing::Values(RandomCase{"Ratio2", 3, {2, 2, 2}, false}, RandomCase{"Ratio3", 3, {3, 3, 3}, false},
        RandomCase{"Ratio4", 3, {4, 4, 4}, false}, RandomCase{"Ratio241", 3, {2, 4, 1}, false},
        RandomCase{"Ratio1", 3, {1, 1, 1}, false}, RandomCase{"Flat2", 2, {2, 2, 1}, false},
        RandomCase{"Flat42", 2, {4, 2, 1}, false}, RandomCase{"Flat8", 2, {8, 8, 1}, false},
        RandomCase{"Aligned2", 3, {2, 2, 2}, true}, RandomCase{"Aligned5", 3, {5, 5, 5}, true},
        RandomCase{"AlignedFlat16", 2, {16, 16, 1}, true}),
    [](const auto& info) { return info.param.Name; });

TEST(Nesting, NeverHidesACellWithAHoleEvenAtLargeRatios)
{
  Dice dice(12345);
  const Int3 ratio{5, 5, 5};  // more fine cells in a coarse one than a mask has bits
  for (int round = 0; round < 10; ++round) {
    const Catalog catalog = MakeRandom({"", 3, ratio, false}, dice);
    const Nesting nesting(catalog, All(catalog));
    for (int p = 0; p < catalog.Levels[0].PatchCount; ++p) {
      const Flags flags = nesting.CoveredCells(p);
      const Flags truth =
          FlagsByDefinition(catalog.Patches[p].Cells, ratio, ShownBoxesOf(catalog, 1, All(catalog)));
      for (std::size_t i = 0; i < flags.size(); ++i) {
        EXPECT_LE(flags[i], truth[i]) << "patch " << p << ", cell " << i;
      }
    }
  }
}

TEST(Nesting, TakesLevelsWithoutPatches)
{
  Catalog catalog;
  AddLevel(catalog, {{{0, 0, 0}, {3, 3, 3}}});
  AddLevel(catalog, {}, {2, 2, 2});
  EXPECT_TRUE(Nesting(catalog, All(catalog)).CoveredCells(0).empty());
}

TEST(Nesting, WorksAtTheEndsOfTheIndexRange)
{
  const int far = 1 << 30;
  Catalog catalog;
  AddLevel(catalog, {{{-far, 0, 0}, {-far + 3, 0, 0}}, {{far / 2 - 2, 0, 0}, {far / 2 - 1, 0, 0}}});
  AddLevel(catalog, {{{far - 4, 0, 0}, {far - 1, 1, 0}}, {{-far, 0, 0}, {-far + 1, 1, 0}}}, {2, 2, 1});
  const Nesting nesting(catalog, All(catalog));
  EXPECT_EQ(nesting.CoveredCells(1), (Flags{1, 1}));
  EXPECT_TRUE(nesting.CoveredCells(0).empty());
}

TEST(Nesting, TakesAPatchOverTheWholeIndexRange)
{
  const int far = 1 << 30;
  Catalog catalog;
  AddLevel(catalog, {{{-far, 0, 0}, {far, 0, 0}}});
  AddLevel(catalog, {{{-far, 0, 0}, {far, 1, 0}}, {{7, 0, 0}, {7, 0, 0}}}, {2, 2, 1});
  EXPECT_EQ(Nesting(catalog, All(catalog)).ChildrenOf(0), (std::vector<int>{1, 2}));
}

namespace {

/// Returns two blocks that share the index space, each refined by one patch. Boxes of different blocks
/// overlap.
Catalog TwoBlocks()
{
  Catalog catalog;
  catalog.Grid = GridType::Curvilinear;
  AddLevel(catalog, {{{0, 0, 0}, {3, 0, 0}}, {{0, 0, 0}, {3, 0, 0}}});
  AddLevel(catalog, {{{0, 0, 0}, {3, 1, 1}}, {{4, 0, 0}, {7, 1, 1}}}, {2, 2, 2});
  catalog.ChildBegin = {0, 1, 2, 2, 2};
  catalog.Children = {2, 3};
  return catalog;
}

}  // namespace

/// Returns 1 for each cell whose centre lies in a shown patch of the same or a coarser level: the definition.
Flags SharedByDefinition(
    const Catalog& catalog, const std::vector<bool>& shown, int patch, const Int3& ghosts)
{
  const Box& own = catalog.Patches[patch].Cells;
  Flags flags;
  ForEachCell(Grow(own, ghosts), [&](Int3 cell) {
    bool shared = Contains(own, cell);
    for (int level = catalog.Patches[patch].Level; level >= 0; --level) {
      for (const Box& box : ShownBoxesOf(catalog, level, shown)) {
        shared = shared || Contains(box, cell);
      }
      cell = Coarsen({cell, cell}, catalog.Levels[level].Ratio).Lower;
    }
    flags.push_back(shared ? 1 : 0);
  });
  return flags;
}

Catalog ThreeLevelsWithNegativeIndices()
{
  Catalog catalog;
  AddLevel(catalog, {{{-4, -4, 0}, {-1, 3, 3}}, {{0, -4, 0}, {3, -1, 3}}}, {1, 1, 1});
  AddLevel(catalog, {{{-6, -4, 2}, {-1, 1, 5}}, {{0, -8, 0}, {3, -5, 3}}}, {2, 2, 2});
  AddLevel(catalog, {{{-10, -8, 3}, {-5, -1, 4}}}, {2, 4, 1});
  return catalog;
}

TEST(Nesting, FindsGhostCellsThatStandForWhatIsShown)
{
  const Catalog catalog = ThreeLevelsWithNegativeIndices();
  for (const int hidden : {-1, 0, 2}) {
    std::vector<bool> shown = All(catalog);
    if (hidden >= 0) {
      shown[hidden] = false;
    }
    const Nesting nesting(catalog, shown);
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      const Int3 ghosts{2, 1, 3};
      EXPECT_EQ(nesting.SharedCells(p, ghosts), SharedByDefinition(catalog, shown, p, ghosts))
          << "patch " << p << ", hidden " << hidden;
    }
  }
}

TEST(Nesting, FindsGhostCellsOnVeryDeepLevels)
{
  Catalog catalog;
  AddLevel(catalog, {{{0, 0, 0}, {0, 0, 0}}}, {1, 1, 1});
  for (int level = 1; level < 6; ++level) {
    AddLevel(catalog, {{{0, 0, 0}, {3, 3, 3}}}, {1024, 1024, 1024});
  }
  const Flags flags = Nesting(catalog, All(catalog)).SharedCells(5, {1, 1, 1});
  ASSERT_EQ(flags.size(), 216u);
  EXPECT_EQ(flags.front(), 0) << "below the domain";
  EXPECT_EQ(flags.back(), 1) << "inside the only patch of level 0";
}

TEST(NestingOfCurvilinearGrids, KnowsItsOwnCellsOnlyAmongGhostCells)
{
  Catalog catalog = ThreeLevelsWithNegativeIndices();
  catalog.Grid = GridType::Curvilinear;
  const Flags flags = Nesting(catalog, All(catalog)).SharedCells(0, {1, 0, 0});
  EXPECT_EQ(std::count(flags.begin(), flags.end(), 1), catalog.Patches[0].Cells.CellCount());
}

TEST(NestingOfCurvilinearGrids, BelievesTheChildTable)
{
  Catalog catalog = TwoBlocks();
  const Nesting nesting(catalog, All(catalog));
  EXPECT_FALSE(nesting.HasUnownedCells(1)) << "the same indices are other places";
  EXPECT_EQ(nesting.OwnedCells(1), std::vector<Box>{catalog.Patches[1].Cells});
  EXPECT_EQ(nesting.CellsShownElsewhere(1), nesting.CoveredCells(1));
  EXPECT_EQ(nesting.ChildrenOf(0), std::vector<int>{2});
  EXPECT_EQ(nesting.ChildrenOf(1), std::vector<int>{3});
  EXPECT_EQ(nesting.CoveredCells(0), (Flags{1, 1, 0, 0}));
  EXPECT_EQ(nesting.CoveredCells(1), (Flags{0, 0, 1, 1}));
  EXPECT_TRUE(Nesting(catalog, {true, true, false, true}).CoveredCells(0).empty());
  catalog.ChildBegin.clear();
  catalog.Children.clear();
  EXPECT_TRUE(Nesting(catalog, All(catalog)).ChildrenOf(0).empty());
  EXPECT_TRUE(Nesting(catalog, All(catalog)).CoveredCells(0).empty());
}

TEST(Nesting, TakesNothingFromSeparateBoxes)
{
  Catalog catalog;
  AddLevel(catalog, {{{0, 0, 0}, {3, 3, 0}}});
  AddLevel(catalog, {{{0, 0, 0}, {2, 2, 0}}, {{1, 1, 0}, {3, 3, 0}}});
  catalog.Levels[1].Role = LevelRole::Separate;
  const Nesting nesting(catalog, All(catalog));
  EXPECT_TRUE(nesting.KnowsOwners(1));
  EXPECT_FALSE(nesting.HasUnownedCells(2)) << "a box of its own";
  EXPECT_TRUE(nesting.CellsShownElsewhere(0).empty());
}

#ifndef PATCHIO_SANITIZED
namespace {

std::size_t BytesInUse()
{
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Returns the bytes per patch of a Nesting of one level.
double BytesAPatch(const std::vector<Box>& boxes)
{
  Catalog catalog;
  AddLevel(catalog, boxes);
  const std::vector<bool> shown = All(catalog);
  const std::size_t before = BytesInUse();
  const Nesting nesting(catalog, shown);
  return double(BytesInUse() - before) / boxes.size();
}

std::vector<Box> Diagonal(int count)
{
  std::vector<Box> boxes;
  for (int i = 0; i < count; ++i) {
    boxes.push_back({{i * 8, i * 8, i * 8}, {i * 8 + 7, i * 8 + 7, i * 8 + 7}});
  }
  return boxes;
}

/// Returns tiny boxes everywhere, and a few that fill the domain, the number that gives small bins most
/// members.
std::vector<Box> HugeAmongTiny(int count)
{
  Dice dice(12345);
  std::vector<Box> boxes = BoxesAtRandom(3, count, 0, 1 << 20, 1, dice);
  for (int i = 0; i < count; i += static_cast<int>(std::sqrt(count))) {
    boxes[i] = {{0, 0, 0}, {1 << 20, 1 << 20, 1 << 20}};
  }
  return boxes;
}

/// Returns tiny boxes, scattered in a wide plane.
std::vector<Box> Scattered(int count)
{
  Dice dice(12345);
  return BoxesAtRandom(2, count, -(1 << 30), 1 << 30, 1, dice);
}

std::vector<Box> Sticks(int count)
{
  std::vector<Box> boxes;
  for (int i = 0; i < count; ++i) {
    boxes.push_back({{0, i, 0}, {9999, i, 0}});
  }
  return boxes;
}

}  // namespace

// Nearly all memory is that of bins and their members, and the memory it fills is the memory it works on.
TEST(Nesting, KeepsBinsInProportionToPatches)
{
  for (const auto& make : {Diagonal, Sticks, HugeAmongTiny, Scattered}) {
    EXPECT_LT(BytesAPatch(make(100'000)), 2 * BytesAPatch(make(1000)) + 16);
    EXPECT_LT(BytesAPatch(make(100'000)), 250);
    EXPECT_GT(BytesAPatch(make(100'000)), 4) << "the measurement sees nothing";
  }
}
#endif

}  // namespace patchio
