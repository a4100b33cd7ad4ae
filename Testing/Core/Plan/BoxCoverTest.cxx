#include "Plan/BoxCover.h"

#include "RandomBoxes.h"

#include <gtest/gtest.h>

#include <map>

namespace patchio {
namespace {

using testing::Dice;

constexpr int Far = 1 << 30;

std::vector<OwnedBox> Numbered(const std::vector<Box>& boxes)
{
  std::vector<OwnedBox> owned;
  for (const Box& box : boxes) {
    owned.push_back({box, static_cast<int>(owned.size())});
  }
  return owned;
}

CoverOptions Options(std::int64_t mostCells, std::int64_t cellsWorthABox)
{
  CoverOptions options;
  options.MostCells = mostCells;
  options.BoxCostInCells = cellsWorthABox;
  return options;
}

/// Cells [0, side) in patches of `width`, per axis.
std::vector<Box> RegularGrid(int patches, int width, int axes = 3)
{
  std::vector<Box> boxes;
  testing::ForEachCell({{0, 0, 0}, {patches - 1, patches - 1, axes == 3 ? patches - 1 : 0}}, [&](Int3 at) {
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
      box.Lower[axis] = axis < axes ? at[axis] * width : 0;
      box.Upper[axis] = axis < axes ? box.Lower[axis] + width - 1 : 0;
    }
    boxes.push_back(box);
  });
  return boxes;
}

/// The definition, cell by cell.
void ExpectCovers(const std::vector<CoverBox>& cover, const std::vector<OwnedBox>& wanted,
    const std::vector<Box>& unwanted, const CoverOptions& options)
{
  std::map<Int3, int> owners;
  std::map<Int3, bool> needed;
  std::int64_t largest = options.MostCells;
  for (const OwnedBox& box : wanted) {
    largest = std::max(largest, box.Cells.CellCount());
    testing::ForEachCell(box.Cells, [&](const Int3& cell) {
      owners[cell] = box.Owner;
      needed[cell] = true;
    });
  }
  for (const Box& box : unwanted) {
    testing::ForEachCell(box, [&](const Int3& cell) { needed[cell] = false; });
  }
  std::map<Int3, int> boxesOf, partsOf;
  for (const CoverBox& box : cover) {
    ASSERT_FALSE(box.Cells.Empty());
    ASSERT_FALSE(box.Parts.empty());
    EXPECT_LE(box.Cells.CellCount(), largest);
    std::int64_t wantedCells = 0;
    testing::ForEachCell(box.Cells, [&](const Int3& cell) {
      ASSERT_EQ(++boxesOf[cell], 1) << "boxes overlap";
      wantedCells += needed.count(cell) > 0 && needed[cell] ? 1 : 0;
    });
    EXPECT_EQ(box.Full, wantedCells == box.Cells.CellCount());
    EXPECT_TRUE(box.Full || options.BoxCostInCells > 0);
    EXPECT_GT(wantedCells, 0);
    for (const OwnedBox& part : box.Parts) {
      ASSERT_FALSE(part.Cells.Empty());
      ASSERT_TRUE(testing::Within(part.Cells, box.Cells));
      testing::ForEachCell(part.Cells, [&](const Int3& cell) {
        ASSERT_EQ(++partsOf[cell], 1) << "parts overlap";
        ASSERT_EQ(owners.at(cell), part.Owner);
      });
    }
  }
  for (const auto& [cell, is] : needed) {
    EXPECT_TRUE(!is || partsOf[cell] == 1) << cell[0] << " " << cell[1] << " " << cell[2];
  }
}

/// Checks the sizes of the parts. For boxes that do not meet, and are too large for a loop over their cells.
void ExpectCoversExactly(const std::vector<CoverBox>& cover, const std::vector<OwnedBox>& wanted)
{
  std::vector<double> left;
  for (const OwnedBox& box : wanted) {
    left.push_back(static_cast<double>(box.Cells.CellCount()));
  }
  for (const CoverBox& box : cover) {
    for (const OwnedBox& part : box.Parts) {
      ASSERT_TRUE(testing::Within(part.Cells, box.Cells));
      ASSERT_TRUE(testing::Within(part.Cells, wanted[part.Owner].Cells));
      left[part.Owner] -= static_cast<double>(part.Cells.CellCount());
    }
  }
  EXPECT_EQ(std::count(left.begin(), left.end(), 0.0), static_cast<std::ptrdiff_t>(left.size()));
}

Box Cell(int i, int j, int k)
{
  return {{i, j, k}, {i, j, k}};
}

}  // namespace

TEST(BoxCover, HasEachWantedCellOnce)
{
  Dice dice(1);
  for (int round = 0; round < 600; ++round) {
    const Box domain = testing::DomainAtRandom(14, dice);
    const auto wanted = Numbered(testing::DisjointBoxes(
        domain, static_cast<int>(dice.Between(1, 40)), static_cast<int>(dice.Between(0, 6)), dice));
    std::vector<Box> unwanted;
    for (const OwnedBox& box : wanted) {
      if (dice.Between(0, 3) == 0) {  // all of the box, or disjoint parts of it
        for (const Box& part : testing::CutAtRandom(box.Cells, static_cast<int>(dice.Between(1, 4)), dice)) {
          if (dice.Between(0, 1) == 0) {
            unwanted.push_back(testing::PartAtRandom(part, dice));
          }
        }
      }
    }
    const CoverOptions options =
        Options(dice.Between(0, 1) == 0 ? 1 << 26 : dice.Between(1, 400), 50 * dice.Between(0, 3));
    const auto cover = CoverBoxes(wanted, unwanted, options);
    ExpectCovers(cover, wanted, unwanted, options);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(BoxCover, IsTheSameEachTime)
{
  Dice dice(2);
  const auto wanted = Numbered(testing::DisjointBoxes({{0, 0, 0}, {30, 30, 30}}, 300, 3, dice));
  const auto first = CoverBoxes(wanted, {}, {});
  const auto second = CoverBoxes(wanted, {}, {});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t b = 0; b < first.size(); ++b) {
    EXPECT_EQ(first[b].Cells, second[b].Cells);
    EXPECT_EQ(first[b].Parts, second[b].Parts);
  }
}

TEST(BoxCover, OfNothingIsNothing)
{
  const Box box{{-3, 2, 0}, {4, 9, 0}};
  EXPECT_TRUE(CoverBoxes({}, {}, {}).empty());
  EXPECT_TRUE(CoverBoxes({{box, 5}}, {box}, {}).empty()) << "all of it is unwanted";
}

TEST(BoxCover, MakesOneBoxOfARegularGrid)
{
  const auto cover = CoverBoxes(Numbered(RegularGrid(16, 8)), {}, {});
  ASSERT_EQ(cover.size(), 1u);
  EXPECT_EQ(cover[0].Cells, (Box{{0, 0, 0}, {127, 127, 127}}));
  EXPECT_EQ(cover[0].Parts.size(), 4096u);
  EXPECT_TRUE(cover[0].Full);
}

TEST(BoxCover, CutsARegularGridIntoFewBoxesUnderTheLimit)
{
  const auto wanted = Numbered(RegularGrid(16, 8));
  const auto cover = CoverBoxes(wanted, {}, Options(64 * 64 * 64, 8000));
  EXPECT_EQ(cover.size(), 8u);
  ExpectCoversExactly(cover, wanted);
}

TEST(BoxCover, KeepsABoxBeyondTheLimitWhole)
{
  const auto cover = CoverBoxes({{{{0, 0, 0}, {99, 99, 99}}, 3}}, {}, Options(1000, 8000));
  ASSERT_EQ(cover.size(), 1u);
  EXPECT_EQ(cover[0].Parts[0].Owner, 3);
}

TEST(BoxCover, ClosesASmallHoleOnlyWhereThatIsAllowed)
{
  std::vector<Box> boxes = RegularGrid(5, 2);
  boxes.erase(boxes.begin() + 62);  // the middle
  const auto wanted = Numbered(boxes);
  const auto closed = CoverBoxes(wanted, {}, Options(1 << 26, 8000));
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_FALSE(closed[0].Full);
  const auto exact = CoverBoxes(wanted, {}, Options(1 << 26, 0));
  EXPECT_EQ(exact.size(), 6u);
  ExpectCovers(exact, wanted, {}, Options(1 << 26, 0));
}

TEST(BoxCover, SeparatesCellsAtTheEndsOfTheIndexSpace)
{
  std::vector<Box> boxes;
  for (const int i : {-Far, -1, Far}) {
    for (const int j : {-Far, Far}) {
      for (const int k : {-Far, 0, Far}) {
        boxes.push_back(Cell(i, j, k));
      }
    }
  }
  for (const std::int64_t worth : {0, 8000}) {
    const auto wanted = Numbered(boxes);
    const auto cover = CoverBoxes(wanted, {}, Options(std::int64_t(1) << 26, worth));
    EXPECT_EQ(cover.size(), boxes.size());
    ExpectCoversExactly(cover, wanted);
  }
}

TEST(BoxCover, TakesALongStaircase)
{
  for (const int step : {1, 10737}) {
    std::vector<Box> boxes;
    for (int i = 0; i < 100000; ++i) {
      const int at = (i - 50000) * step;
      boxes.push_back({{at, at, at}, {at + step - 1, at + step - 1, at + step - 1}});
    }
    const auto wanted = Numbered(boxes);
    const auto cover = CoverBoxes(wanted, {}, {});
    EXPECT_LE(cover.size(), boxes.size());
    ExpectCoversExactly(cover, wanted);
  }
}

TEST(BoxCover, TakesAStaircaseWhoseStepsGrow)
{
  std::vector<Box> boxes;
  for (int i = 0; i < 29; ++i) {  // each as long as all before it
    boxes.push_back({{1 << i, 1 << i, 0}, {(2 << i) - 1, (2 << i) - 1, 0}});
    boxes.push_back({{-(2 << i), 1 << i, 0}, {-(1 << i) - 1, 1 << i, 0}});
  }
  std::vector<OwnedBox> wanted;
  for (const Box& box : boxes) {
    if (box.CellCount() < std::int64_t(1) << 40) {
      wanted.push_back({box, static_cast<int>(wanted.size())});
    }
  }
  ExpectCoversExactly(CoverBoxes(wanted, {}, {}), wanted);
}

TEST(BoxCover, JoinsALineOfCells)
{
  std::vector<Box> boxes;
  for (int i = 0; i < 100000; ++i) {
    boxes.push_back(Cell(7, -3, i - 50000));
  }
  const auto cover = CoverBoxes(Numbered(boxes), {}, {});
  ASSERT_EQ(cover.size(), 1u);
  EXPECT_EQ(cover[0].Parts.size(), 100000u);
}

TEST(BoxCover, TakesCellsScatteredEverywhere)
{
  Dice dice(3);
  std::map<Int3, Box> boxes;
  while (boxes.size() < 100000) {
    const Int3 at{static_cast<int>(dice.Between(-Far, Far)), static_cast<int>(dice.Between(-Far, Far)),
        static_cast<int>(dice.Between(-Far, Far))};
    boxes[at] = {at, at};
  }
  std::vector<Box> list;
  for (const auto& [at, box] : boxes) {
    list.push_back(box);
  }
  const auto wanted = Numbered(list);
  const auto cover = CoverBoxes(wanted, {}, {});
  EXPECT_EQ(cover.size(), list.size());
  ExpectCoversExactly(cover, wanted);
}

TEST(BoxCover, DoesNotCutWovenRodsIntoCountlessParts)
{
  // Rods along all axes that pass each other, so that each dividing plane cuts many of them.
  constexpr int side = 120, length = 4 * side;
  std::vector<Box> boxes;
  for (int a = 0; a < side; ++a) {
    for (int b = 0; b < side; ++b) {
      boxes.push_back({{0, 4 * a, 4 * b + 1}, {length - 1, 4 * a, 4 * b + 1}});
      boxes.push_back({{4 * a + 1, 0, 4 * b}, {4 * a + 1, length - 1, 4 * b}});
      boxes.push_back({{4 * a, 4 * b + 1, 0}, {4 * a, 4 * b + 1, length - 1}});
    }
  }
  const auto wanted = Numbered(boxes);
  const auto cover = CoverBoxes(wanted, {}, Options(1 << 26, 0));
  ExpectCoversExactly(cover, wanted);
  std::size_t parts = 0;
  for (const CoverBox& box : cover) {
    parts += box.Parts.size();
  }
  EXPECT_LE(parts, 10 * boxes.size() + 200000);
}

TEST(BoxCover, TakesLongRodsBesideManyCells)
{
  std::vector<Box> boxes;
  for (int i = 0; i < 20000; ++i) {
    boxes.push_back(Cell(2 * i, 0, 0));
    boxes.push_back({{0, 2 * i + 2, 1}, {40000, 2 * i + 2, 1}});
  }
  const auto wanted = Numbered(boxes);
  ExpectCoversExactly(CoverBoxes(wanted, {}, Options(1 << 26, 0)), wanted);
}

}  // namespace patchio
