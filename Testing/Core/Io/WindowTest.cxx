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
Case CaseAtRandom(int mostComponents, Dice& dice)
{
  Case c;
  const int axes = dice.Between(0, 3) == 0 ? 2 : 3;
  const bool spreads = dice.Between(0, 2) == 0, isWide = dice.Between(0, 7) == 0;
  for (int axis = 0; axis < axes; ++axis) {
    c.Ratio[axis] = spreads ? static_cast<int>(dice.Between(1, 4)) : 1;
    c.Stored.Lower[axis] = static_cast<int>(dice.Between(-9, 9));
    c.Stored.Upper[axis] =
        c.Stored.Lower[axis] + static_cast<int>(dice.Between(0, isWide && axis == 0 ? 40 : 6));
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
  c.Components = dice.Between(0, 1) == 0 ? 1 : static_cast<int>(dice.Between(2, mostComponents));
  c.Slot = static_cast<int>(dice.Between(0, c.Components - 1));
  return c;
}

template <typename Word>
Word Untouched()
{
  return static_cast<Word>(0xababababababababull);
}

/// The definition, place by place. The stored values are tuples of places.size() components; component c goes
/// to component places[c] of the target, which has `wide` components. `first` and `count` are of single
/// values.
template <typename Word>
std::vector<Word> PlacedNaively(const Case& c, int wide, const std::vector<int>& places,
    const std::vector<Word>& stored, std::int64_t first, std::int64_t count, bool swap)
{
  std::vector<Word> output(c.Output.CellCount() * wide, Untouched<Word>());
  testing::ForEachCell(c.Region, [&](const Int3& cell) {
    const Int3 owner = Coarsen({cell, cell}, c.Ratio).Lower;
    for (std::size_t component = 0; component < places.size(); ++component) {
      const auto index = static_cast<std::int64_t>(IndexIn(c.Stored, owner) * places.size() + component);
      if (index >= first && index < first + count) {
        output[IndexIn(c.Output, cell) * wide + places[component]] =
            swap ? Reversed(stored[index]) : stored[index];
      }
    }
  });
  return output;
}

template <typename Word>
std::vector<Word> WordsAtRandom(std::int64_t count, Dice& dice)
{
  std::vector<Word> words(count);
  for (Word& word : words) {
    word = static_cast<Word>(dice.Between(0, 1 << 30) * 65537);
  }
  return words;
}

template <typename Word>
void ExpectPlacesTuples(Dice& dice)
{
  for (int round = 0; round < 1500; ++round) {
    const Case c = CaseAtRandom(4, dice);
    // Two-dimensional vectors and tensors may become three-dimensional.
    const bool widens = c.Components % 2 == 0 && dice.Between(0, 1) == 1;
    const int wide = widens ? (c.Components == 2 ? 3 : 9) : c.Components;
    ArrayMapping window(c.Stored, c.Output, c.Region, c.Ratio, wide);
    window.SetTupleWidth(c.Components);
    const auto stored = WordsAtRandom<Word>(c.Stored.CellCount() * c.Components, dice);
    std::vector<int> places{0, 1, 2, 3};
    places.resize(c.Components);
    if (wide == 9) {
      places = {0, 1, 3, 4};
    }
    const bool swap = dice.Between(0, 1) == 1;
    const auto values = static_cast<std::int64_t>(stored.size());
    const std::int64_t first = dice.Between(0, values - 1);  // perhaps in the middle of a tuple
    const std::int64_t count = dice.Between(0, values - first);
    std::vector<Word> output(c.Output.CellCount() * wide, Untouched<Word>());
    PlaceRun(window, stored.data() + first, first, count, sizeof(Word), swap, 0, output.data());
    ASSERT_EQ(output, PlacedNaively(c, wide, places, stored, first, count, swap)) << "round " << round;
  }
}

template <typename Word>
void ExpectPlacesRuns(Dice& dice)
{
  for (int round = 0; round < 1500; ++round) {
    const Case c = CaseAtRandom(9, dice);
    const ArrayMapping window(c.Stored, c.Output, c.Region, c.Ratio, c.Components);
    ASSERT_EQ(window.StoredTuples(), c.Stored.CellCount());
    const auto stored = WordsAtRandom<Word>(c.Stored.CellCount(), dice);
    const bool swap = dice.Between(0, 1) == 1;
    std::vector<Word> output(c.Output.CellCount() * c.Components, Untouched<Word>());
    const auto place = [&](std::int64_t first, std::int64_t count) {
      // Any address, and memory of exactly this size, so that AddressSanitizer detects reads beyond it.
      const std::size_t offset = dice.Between(0, 7);
      std::vector<std::byte> memory(offset + count * sizeof(Word));
      const auto* const begin = reinterpret_cast<const std::byte*>(stored.data() + first);
      std::copy_n(begin, count * sizeof(Word), memory.begin() + offset);
      PlaceRun(window, memory.data() + offset, first, count, sizeof(Word), swap, c.Slot, output.data());
    };
    // One run with a random begin and end.
    const std::int64_t first = dice.Between(0, c.Stored.CellCount() - 1);
    const std::int64_t count = dice.Between(0, c.Stored.CellCount() - first);
    place(first, count);
    ASSERT_EQ(output, PlacedNaively(c, c.Components, {c.Slot}, stored, first, count, swap))
        << "round " << round;
    // All values, run by run.
    std::fill(output.begin(), output.end(), Untouched<Word>());
    for (std::int64_t at = 0; at < c.Stored.CellCount();) {
      const std::int64_t run = std::min(dice.Between(1, 20), c.Stored.CellCount() - at);
      place(at, run);
      at += run;
    }
    ASSERT_EQ(output, PlacedNaively(c, c.Components, {c.Slot}, stored, 0, c.Stored.CellCount(), swap))
        << "round " << round;
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

TEST(Window, PlacesRunsOfValues)
{
  Dice dice(1);
  ExpectPlacesRuns<std::uint8_t>(dice);
  ExpectPlacesRuns<std::uint16_t>(dice);
  ExpectPlacesRuns<std::uint32_t>(dice);
  ExpectPlacesRuns<std::uint64_t>(dice);
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

TEST(FillGaps, CopiesTheNearestValueOfTheRowElseTheNearestRowElseTheNearestPlane)
{
  Dice dice(6);
  for (int round = 0; round < 1000; ++round) {
    const Dims dims{dice.Between(1, 5), dice.Between(1, 9), dice.Between(1, 6)};
    const std::int64_t tuples = testing::TuplesOf(dims), dense = dice.Between(0, 9);
    const std::int64_t sure = dice.Between(0, tuples - 1);
    std::vector<std::uint8_t> filled(tuples);
    std::vector<std::array<std::int64_t, 2>> values(tuples, {999999, 999999});
    std::vector<std::vector<bool>> rows(dims[2], std::vector<bool>(dims[1]));
    std::vector<bool> planes(dims[2]);
    for (std::int64_t i = 0; i < tuples; ++i) {
      if (dice.Between(0, 9) < dense || i == sure) {
        filled[i] = 1;
        values[i] = {i, -i};
        planes[i / dims[0] / dims[1]] = true;
        rows[i / dims[0] / dims[1]][i / dims[0] % dims[1]] = true;
      }
    }
    FillGaps(filled, dims, sizeof(values[0]), values.data());
    for (std::int64_t i = 0; i < tuples; ++i) {
      const std::int64_t k = Nearest(planes)[i / dims[0] / dims[1]];
      const std::int64_t j = Nearest(rows[k])[i / dims[0] % dims[1]];
      const std::int64_t begin = (k * dims[1] + j) * dims[0];
      std::int64_t source = begin + i % dims[0];  // the value before, else the one after
      while (source > begin && !filled[source]) {
        --source;
      }
      while (!filled[source]) {
        ++source;
      }
      ASSERT_EQ(values[i], (std::array<std::int64_t, 2>{source, -source})) << "round " << round << ", " << i;
    }
  }
}

}  // namespace patchio
