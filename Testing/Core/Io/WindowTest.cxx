// Placing values into the arrays of larger blocks.
#include "Io/Decode.h"

#include "RandomBoxes.h"

#include <gtest/gtest.h>

#include <cstring>

namespace patchio {
namespace {

using testing::Dice;

template <typename Word>
Word Reversed(Word word)
{
  auto* bytes = reinterpret_cast<std::byte*>(&word);
  std::reverse(bytes, bytes + sizeof(Word));
  return word;
}

struct Case
{
  Box Stored, Output, Region;
  Int3 Ratio{1, 1, 1};
  int Components = 1, Slot = 0;
};

/// A random case: the stored box, the target box, and a region that both have.
Case CaseAtRandom(Dice& dice)
{
  Case c;
  const int axes = dice.Between(0, 3) == 0 ? 2 : 3;
  const bool spreads = dice.Between(0, 2) == 0;
  for (int axis = 0; axis < axes; ++axis) {
    c.Ratio[axis] = spreads ? static_cast<int>(dice.Between(1, 4)) : 1;
    c.Stored.Lower[axis] = static_cast<int>(dice.Between(-9, 9));
    c.Stored.Upper[axis] = c.Stored.Lower[axis] + static_cast<int>(dice.Between(0, 6));
  }
  c.Stored.Upper[2] = axes == 2 ? 0 : c.Stored.Upper[2];
  c.Region = testing::PartAtRandom(Refine(c.Stored, c.Ratio), dice);
  if (dice.Between(0, 3) == 0) {
    c.Region = Refine(c.Stored, c.Ratio);
  }
  c.Output = c.Region;
  for (int axis = 0; axis < axes; ++axis) {
    c.Output.Lower[axis] -= static_cast<int>(dice.Between(0, 1) * dice.Between(0, 4));
    c.Output.Upper[axis] += static_cast<int>(dice.Between(0, 1) * dice.Between(0, 4));
  }
  c.Components = dice.Between(0, 1) == 0 ? 1 : static_cast<int>(dice.Between(2, 4));
  c.Slot = static_cast<int>(dice.Between(0, c.Components - 1));
  return c;
}

template <typename Word>
Word Untouched()
{
  return static_cast<Word>(0xababababababababull);
}

/// The definition, place by place.
template <typename Word>
std::vector<Word> PlacedNaively(
    const Case& c, const std::vector<Word>& stored, std::int64_t first, std::int64_t count, bool swap)
{
  std::vector<Word> output(c.Output.CellCount() * c.Components, Untouched<Word>());
  testing::ForEachCell(c.Region, [&](const Int3& cell) {
    const Int3 owner = Coarsen({cell, cell}, c.Ratio).Lower;
    const auto index = static_cast<std::int64_t>(IndexIn(c.Stored, owner));
    if (index >= first && index < first + count) {
      output[IndexIn(c.Output, cell) * c.Components + c.Slot] =
          swap ? Reversed(stored[index]) : stored[index];
    }
  });
  return output;
}

/// The same for values that are tuples of all components; `first` and `count` are of single values.
template <typename Word>
std::vector<Word> TuplesPlacedNaively(const Case& c, int wide, const std::vector<Word>& stored,
    std::int64_t first, std::int64_t count, bool swap)
{
  std::vector<Word> output(c.Output.CellCount() * wide, Untouched<Word>());
  const std::vector<int> places =
      c.Components == 4 && wide == 9 ? std::vector<int>{0, 1, 3, 4} : std::vector<int>{0, 1, 2, 3};
  testing::ForEachCell(c.Region, [&](const Int3& cell) {
    const Int3 owner = Coarsen({cell, cell}, c.Ratio).Lower;
    for (int component = 0; component < c.Components; ++component) {
      const auto index = static_cast<std::int64_t>(IndexIn(c.Stored, owner)) * c.Components + component;
      if (index >= first && index < first + count) {
        output[IndexIn(c.Output, cell) * wide + places[component]] =
            swap ? Reversed(stored[index]) : stored[index];
      }
    }
  });
  return output;
}

template <typename Word>
void ExpectPlacesTuples(Dice& dice)
{
  for (int round = 0; round < 1500; ++round) {
    const Case c = CaseAtRandom(dice);
    // Two-dimensional vectors and tensors may become three-dimensional.
    const bool widens = c.Components % 2 == 0 && dice.Between(0, 1) == 1;
    const int wide = widens ? (c.Components == 2 ? 3 : 9) : c.Components;
    ArrayMapping window(c.Stored, c.Output, c.Region, c.Ratio, wide);
    window.SetTupleWidth(c.Components);
    std::vector<Word> stored(c.Stored.CellCount() * c.Components);
    for (Word& word : stored) {
      word = static_cast<Word>(dice.Between(0, 1 << 30) * 65537);
    }
    const bool swap = dice.Between(0, 1) == 1;
    const auto values = static_cast<std::int64_t>(stored.size());
    const std::int64_t first = dice.Between(0, values - 1);  // perhaps in the middle of a tuple
    const std::int64_t count = dice.Between(0, values - first);
    std::vector<Word> output(c.Output.CellCount() * wide, Untouched<Word>());
    PlaceRun(window, stored.data() + first, first, count, sizeof(Word), swap, 0, output.data());
    ASSERT_EQ(output, TuplesPlacedNaively(c, wide, stored, first, count, swap)) << "round " << round;
  }
}

template <typename Word>
void ExpectPlacesRuns(Dice& dice)
{
  for (int round = 0; round < 1500; ++round) {
    const Case c = CaseAtRandom(dice);
    const ArrayMapping window(c.Stored, c.Output, c.Region, c.Ratio, c.Components);
    ASSERT_EQ(window.StoredTuples(), c.Stored.CellCount());
    std::vector<Word> stored(c.Stored.CellCount());
    for (Word& word : stored) {
      word = static_cast<Word>(dice.Between(0, 1 << 30) * 65537);
    }
    const bool swap = dice.Between(0, 1) == 1;
    // One run with a random begin and end.
    const std::int64_t first = dice.Between(0, c.Stored.CellCount() - 1);
    const std::int64_t count = dice.Between(0, c.Stored.CellCount() - first);
    std::vector<Word> output(c.Output.CellCount() * c.Components, Untouched<Word>());
    PlaceRun(window, stored.data() + first, first, count, sizeof(Word), swap, c.Slot, output.data());
    ASSERT_EQ(output, PlacedNaively(c, stored, first, count, swap)) << "round " << round;
    // All values, run by run.
    std::fill(output.begin(), output.end(), Untouched<Word>());
    for (std::int64_t at = 0; at < c.Stored.CellCount();) {
      const std::int64_t run = std::min(dice.Between(1, 20), c.Stored.CellCount() - at);
      PlaceRun(window, stored.data() + at, at, run, sizeof(Word), swap, c.Slot, output.data());
      at += run;
    }
    ASSERT_EQ(output, PlacedNaively(c, stored, 0, c.Stored.CellCount(), swap)) << "round " << round;
  }
}

}  // namespace

TEST(Window, PlacesTuplesThatAreStoredSideBySide)
{
  Dice dice(11);
  ExpectPlacesTuples<std::uint8_t>(dice);
  ExpectPlacesTuples<std::uint32_t>(dice);
  ExpectPlacesTuples<std::uint64_t>(dice);
}

TEST(Window, PlacesRunsOfFourByteValues)
{
  Dice dice(1);
  ExpectPlacesRuns<std::uint32_t>(dice);
}

TEST(Window, PlacesRunsOfEightByteValues)
{
  Dice dice(2);
  ExpectPlacesRuns<std::uint64_t>(dice);
}

TEST(Window, PlacesRunsOfBytes)
{
  Dice dice(3);
  ExpectPlacesRuns<std::uint8_t>(dice);
}

TEST(Window, IsContiguousWhereStoredValuesStayOneRun)
{
  Dice dice(4);
  int contiguous = 0;
  for (int round = 0; round < 3000; ++round) {
    Case c = CaseAtRandom(dice);
    const int wide = static_cast<int>(dice.Between(0, 3));
    for (int axis = 0; axis < wide; ++axis) {  // otherwise this is very rare
      c.Output.Lower[axis] = c.Region.Lower[axis];
      c.Output.Upper[axis] = c.Region.Upper[axis];
    }
    const ArrayMapping window(c.Stored, c.Output, c.Region, c.Ratio, c.Components);
    std::vector<std::int64_t> places(c.Stored.CellCount(), -1);
    bool once = c.Ratio == Int3{1, 1, 1};
    testing::ForEachCell(c.Region, [&](const Int3& cell) {
      std::int64_t& place = places[IndexIn(c.Stored, Coarsen({cell, cell}, c.Ratio).Lower)];
      once = once && place < 0;
      place = static_cast<std::int64_t>(IndexIn(c.Output, cell));
    });
    bool oneRun = once;
    for (std::size_t i = 0; i < places.size(); ++i) {
      oneRun = oneRun && places[i] == places[0] + static_cast<std::int64_t>(i) && places[i] >= 0;
    }
    std::int64_t first = -1;
    const bool said = window.IsContiguous(first);
    EXPECT_TRUE(!said || (oneRun && first == places[0])) << "round " << round;
    contiguous += said ? 1 : 0;
  }
  EXPECT_GT(contiguous, 50);
}

TEST(Window, OfAPartOfAnOutputExtendsNothing)
{
  const ArrayMapping window(
      {{0, 0, 0}, {3, 3, 0}}, {{-2, -2, 0}, {8, 8, 0}}, {{1, 1, 0}, {3, 3, 0}}, {1, 1, 1}, 1);
  std::vector<float> output(11 * 11, -1);
  ExtendEdges(window, sizeof(float), output.data());
  EXPECT_EQ(output, std::vector<float>(11 * 11, -1));
}

TEST(Window, AtTheEndsOfTheIndexSpace)
{
  constexpr int far = 1 << 30;
  for (const int end : {-far, far - 2}) {
    const Box stored{{end, end, end}, {end + 1, end + 1, end + 1}};
    const Box output = Grow(stored, {1, 1, 1});
    const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> result(64, 0);
    PlaceRun(ArrayMapping(stored, output, stored, {1, 1, 1}, 1), values.data(), 0, 8, sizeof(float), false, 0,
        result.data());
    EXPECT_EQ(result[21], 1);
    EXPECT_EQ(result[22], 2);
    EXPECT_EQ(result[42], 8);
    EXPECT_EQ(std::count(result.begin(), result.end(), 0.0f), 56);
  }
}

TEST(FillGaps, RepeatsValuesOfTheNeighbourhood)
{
  Dice dice(5);
  for (int round = 0; round < 500; ++round) {
    const Dims dims{dice.Between(1, 6), dice.Between(1, 6), dice.Between(1, 6)};
    const auto tuples = static_cast<std::size_t>(dims[0] * dims[1] * dims[2]);
    const std::int64_t dense = dice.Between(0, 9);
    std::vector<std::uint8_t> filled;
    std::vector<std::array<int, 2>> values;
    for (std::size_t i = 0; i < tuples; ++i) {
      filled.push_back(dice.Between(0, 9) < dense ? 1 : 0);
      values.push_back(filled[i] ? std::array<int, 2>{static_cast<int>(i), -static_cast<int>(i)}
                                 : std::array<int, 2>{999999, 999999});
    }
    const std::size_t sure = dice.Between(0, static_cast<std::int64_t>(tuples) - 1);
    filled[sure] = 1;
    values[sure] = {static_cast<int>(sure), -static_cast<int>(sure)};
    FillGaps(filled, dims, sizeof(values[0]), values.data());
    for (std::size_t i = 0; i < tuples; ++i) {
      const auto [a, b] = values[i];
      ASSERT_TRUE(a >= 0 && a < static_cast<int>(tuples) && b == -a && filled[a]) << "no value of the array";
      ASSERT_TRUE(!filled[i] || a == static_cast<int>(i)) << "a stored value has changed";
      const auto begin = static_cast<int>(i / dims[0] * dims[0]);
      const bool rowHasSome = std::any_of(filled.begin() + begin, filled.begin() + begin + dims[0],
          [](std::uint8_t flag) { return flag != 0; });
      ASSERT_TRUE(!rowHasSome || a / dims[0] == begin / dims[0]) << "its own row has a value";
    }
  }
}

/// Returns, for each flag, the index of the nearest flag that is set; of two at the same distance, the first
/// one. -1: no flag is set.
std::vector<int> Nearest(const std::vector<bool>& flags)
{
  const auto count = static_cast<int>(flags.size());
  std::vector<int> nearest(flags.size(), -1);
  for (int i = 0; i < count; ++i) {
    for (int distance = 0; distance < count && nearest[i] < 0; ++distance) {
      for (const int other : {i - distance, i + distance}) {
        if (nearest[i] < 0 && other >= 0 && other < count && flags[other]) {
          nearest[i] = other;
        }
      }
    }
  }
  return nearest;
}

TEST(FillGaps, CopiesTheNearestRowOfThePlaneAndTheNearestPlane)
{
  Dice dice(6);
  for (int round = 0; round < 500; ++round) {
    const Dims dims{dice.Between(1, 3), dice.Between(1, 9), dice.Between(1, 6)};
    const std::int64_t dense = dice.Between(1, 5);
    std::vector<std::uint8_t> filled;
    std::vector<float> values;
    for (std::int64_t row = 0; row < dims[1] * dims[2]; ++row) {
      const bool full = dice.Between(0, 9) < dense || row == dims[1] * dims[2] / 2;
      filled.insert(filled.end(), dims[0], full ? 1 : 0);
      values.insert(values.end(), dims[0], full ? static_cast<float>(row) : -1);
    }
    FillGaps(filled, dims, sizeof(float), values.data());
    std::vector<std::vector<bool>> rows(dims[2]);
    std::vector<bool> planes;
    for (std::int64_t k = 0; k < dims[2]; ++k) {
      for (std::int64_t j = 0; j < dims[1]; ++j) {
        rows[k].push_back(filled[(k * dims[1] + j) * dims[0]] != 0);
      }
      planes.push_back(std::count(rows[k].begin(), rows[k].end(), true) > 0);
    }
    for (std::int64_t i = 0; i < dims[0] * dims[1] * dims[2]; ++i) {
      const std::int64_t k = Nearest(planes)[i / dims[0] / dims[1]];
      const std::int64_t j = Nearest(rows[k])[i / dims[0] % dims[1]];
      ASSERT_EQ(values[i], static_cast<float>(k * dims[1] + j)) << "round " << round << ", value " << i;
    }
  }
}

TEST(FillGaps, TakesTheValueBeforeElseTheOneAfter)
{
  std::vector<float> row{0, 0, 3, 0, 0, 6, 0};
  FillGaps({0, 0, 1, 0, 0, 1, 0}, {7, 1, 1}, sizeof(float), row.data());
  EXPECT_EQ(row, (std::vector<float>{3, 3, 3, 3, 3, 6, 6}));
}

}  // namespace patchio
