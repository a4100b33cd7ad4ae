#include "Io/Decode.h"

#include "NaivePlace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace patchio {
namespace {

using testing::TuplesOf;

/// Returns the value at a stored position, which differs for all positions and components.
template <typename T>
T ValueAt(std::int64_t i, std::int64_t j, std::int64_t k, int component)
{
  return static_cast<T>(((k * 50 + j) * 50 + i) * 10 + component);
}

template <typename T>
std::vector<T> StoredComponent(const ArrayShape& shape, int component)
{
  std::vector<T> values;
  const Dims dims = shape.StoredDims();
  for (std::int64_t k = 0; k < dims[2]; ++k) {
    for (std::int64_t j = 0; j < dims[1]; ++j) {
      for (std::int64_t i = 0; i < dims[0]; ++i) {
        values.push_back(ValueAt<T>(i, j, k, component));
      }
    }
  }
  return values;
}

/// The definition of the result: each output position has the nearest stored value.
template <typename T>
std::vector<T> ExpectedOutput(const ArrayShape& shape)
{
  std::vector<T> values;
  const Dims out = shape.OutputDims();
  const Dims stored = shape.StoredDims();
  const auto nearest = [&](std::int64_t index, int axis) {
    const std::int64_t shifted = index - shape.OutputGhosts[axis] + shape.StoredGhosts[axis];
    return std::clamp<std::int64_t>(shifted, 0, stored[axis] - 1);
  };
  for (std::int64_t k = 0; k < out[2]; ++k) {
    for (std::int64_t j = 0; j < out[1]; ++j) {
      for (std::int64_t i = 0; i < out[0]; ++i) {
        for (int c = 0; c < shape.OutputComponents; ++c) {
          values.push_back(ValueAt<T>(nearest(i, 0), nearest(j, 1), nearest(k, 2), c));
        }
      }
    }
  }
  return values;
}

/// Places all components in pieces of `rowsAtOnce` rows, and then widens the array.
template <typename T>
std::vector<T> Decode(const ArrayShape& shape, std::int64_t rowsAtOnce)
{
  std::vector<T> output(TuplesOf(shape.OutputDims()) * shape.OutputComponents, T(-1));
  const Dims stored = shape.StoredDims();
  const std::int64_t rows = stored[1] * stored[2];
  for (int c = 0; c < shape.OutputComponents; ++c) {
    const std::vector<T> values = StoredComponent<T>(shape, c);
    for (std::int64_t row = 0; row < rows; row += rowsAtOnce) {
      const std::int64_t count = std::min(rowsAtOnce, rows - row);
      PlaceRun(shape, values.data() + row * stored[0], row * stored[0], count * stored[0], sizeof(T), false,
          c, output.data());
    }
  }
  ExtendEdges(shape, sizeof(T), output.data());
  return output;
}

template <typename T>
void ExpectDecodes(const ArrayShape& shape)
{
  for (const std::int64_t rowsAtOnce : {1, 3, 1000}) {
    EXPECT_EQ(Decode<T>(shape, rowsAtOnce), ExpectedOutput<T>(shape));
  }
}

ArrayShape Shape(const Dims& interior, const Int3& stored, const Int3& output, int components = 1)
{
  ArrayShape shape;
  shape.Interior = interior;
  shape.StoredGhosts = stored;
  shape.OutputGhosts = output;
  shape.OutputComponents = components;
  return shape;
}

}  // namespace

TEST(SwapByteOrder, ReversesFourByteElements)
{
  std::vector<std::uint32_t> words{0x01020304, 0xaabbccdd};
  SwapByteOrder(words.data(), 2, 4);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{0x04030201, 0xddccbbaa}));
}

TEST(SwapByteOrder, ReversesEightByteElementsOnOddAddresses)
{
  std::vector<std::uint8_t> bytes{9, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  SwapByteOrder(bytes.data() + 1, 1, 8);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{9, 8, 7, 6, 5, 4, 3, 2, 1, 9}));
}

TEST(SwapByteOrder, LeavesWhatComesAfter)
{
  std::vector<std::uint32_t> words{1, 2, 3};
  SwapByteOrder(words.data(), 0, 4);
  SwapByteOrder(words.data(), 1, 4);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{0x01000000, 2, 3}));
}

TEST(SwapByteOrder, ReversesAnyNumberOfElements)
{
  testing::Dice dice(5);
  for (const std::size_t elementBytes : {1, 2, 4, 8}) {
    for (std::size_t count = 0; count < 40; ++count) {
      const std::vector<std::byte> before = dice.Bytes((count + 1) * elementBytes);
      std::vector<std::byte> expected = before, after = before;
      for (std::size_t i = 0; i < count; ++i) {
        std::reverse(&expected[i * elementBytes], &expected[i * elementBytes] + elementBytes);
      }
      SwapByteOrder(after.data(), count, elementBytes);
      EXPECT_EQ(after, expected) << count << " of " << elementBytes;
    }
  }
}

TEST(BlankUndefined, TakesARangeAndNaNButNotInfinity)
{
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{-999, -998, -1001, -1000, -999.5f, infinity, -infinity, std::nanf(""), 0, 3e38f};
  EXPECT_TRUE(BlankUndefined(values.data(), 10, ElementType::Float32, -1000, -999));
  for (const int i : {0, 3, 4, 7}) {
    EXPECT_TRUE(std::isnan(values[i])) << i;
  }
  EXPECT_EQ(values[5], infinity);
  EXPECT_EQ(values[6], -infinity);
  EXPECT_EQ(values[1], -998);
  EXPECT_EQ(values[2], -1001);
  EXPECT_EQ(values[8], 0);
  EXPECT_EQ(values[9], 3e38f);
  std::vector<double> wide{1, 2, 3};
  EXPECT_FALSE(BlankUndefined(wide.data(), 3, ElementType::Float64, 4, 5));
  EXPECT_TRUE(BlankUndefined(wide.data(), 3, ElementType::Float64, 2, 2));
  EXPECT_TRUE(std::isnan(wide[1]));
  std::vector<std::int16_t> integers{1, 2};
  EXPECT_FALSE(BlankUndefined(integers.data(), 2, ElementType::Int16, 1, 1));
  EXPECT_EQ(integers[0], 1);
}

// The range is one of real numbers: floats next to its ends are compared exactly, not with rounded ends.
TEST(BlankUndefined, ComparesAsIfInDouble)
{
  const double undefined = 9.999e20;
  const double from = undefined - undefined / 1e5, to = undefined + undefined / 1e5;
  for (const double end : {from, to}) {
    float value = static_cast<float>(end);
    for (int i = 0; i < 4; ++i) {
      value = std::nextafter(value, 0.0f);
    }
    for (int i = 0; i < 9; ++i, value = std::nextafter(value, std::numeric_limits<float>::infinity())) {
      float blanked = value;
      const bool inside = value >= from && value <= to;
      EXPECT_EQ(BlankUndefined(&blanked, 1, ElementType::Float32, from, to), inside);
      EXPECT_EQ(std::isnan(blanked), inside);
    }
  }
  float any = 1;
  EXPECT_TRUE(BlankUndefined(&any, 1, ElementType::Float32, -1e300, 1e300));
  any = 1;
  EXPECT_FALSE(BlankUndefined(&any, 1, ElementType::Float32, 1e300, 2e300));
  for (const double sign : {-1, 1}) {
    any = static_cast<float>(sign) * std::numeric_limits<float>::infinity();
    EXPECT_FALSE(BlankUndefined(&any, 1, ElementType::Float32, -1e300, 1e300)) << sign;
    EXPECT_FALSE(BlankUndefined(&any, 1, ElementType::Float32, 1e300, 2e300)) << sign;
    EXPECT_FALSE(BlankUndefined(&any, 1, ElementType::Float32, -2e300, -1e300)) << sign;
  }
}

TEST(ArrayShape, CountsGhostsOnBothSides)
{
  const ArrayShape shape = Shape({4, 5, 6}, {1, 0, 2}, {0, 3, 0}, 3);
  EXPECT_EQ(shape.StoredDims(), (Dims{6, 5, 10}));
  EXPECT_EQ(shape.OutputDims(), (Dims{4, 11, 6}));
}

TEST(Decode, CopiesWhenNothingChanges)
{
  ExpectDecodes<float>(Shape({4, 3, 2}, {0, 0, 0}, {0, 0, 0}));
}

TEST(Decode, InterleavesComponents)
{
  ExpectDecodes<float>(Shape({4, 3, 2}, {0, 0, 0}, {0, 0, 0}, 3));
  ExpectDecodes<double>(Shape({4, 3, 2}, {1, 1, 1}, {1, 1, 1}, 9));
}

TEST(Decode, StripsGhosts)
{
  ExpectDecodes<float>(Shape({4, 3, 2}, {1, 1, 1}, {0, 0, 0}));
  ExpectDecodes<float>(Shape({4, 3, 2}, {3, 2, 1}, {1, 1, 1}, 2));
}

TEST(Decode, WidensGhosts)
{
  ExpectDecodes<float>(Shape({4, 3, 2}, {0, 0, 0}, {1, 1, 1}));
  ExpectDecodes<double>(Shape({1, 1, 1}, {0, 0, 0}, {2, 3, 1}, 3));
}

TEST(Decode, StripsOneAxisAndWidensAnother)
{
  ExpectDecodes<float>(Shape({4, 3, 2}, {2, 0, 1}, {0, 2, 1}));
  ExpectDecodes<float>(Shape({4, 3, 2}, {0, 2, 0}, {1, 0, 2}, 2));
}

TEST(Decode, KeepsTwoDimensionsFlat)
{
  ExpectDecodes<float>(Shape({5, 4, 1}, {1, 1, 0}, {0, 0, 0}, 2));
  ExpectDecodes<float>(Shape({5, 4, 1}, {0, 0, 0}, {1, 2, 0}));
}

TEST(Decode, AgreesWithTheDefinitionOnRandomShapes)
{
  std::mt19937 engine(99);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine);
  };
  for (int round = 0; round < 300; ++round) {
    const ArrayShape shape =
        Shape({between(1, 6), between(1, 6), between(1, 6)}, {between(0, 3), between(0, 3), between(0, 3)},
            {between(0, 3), between(0, 3), between(0, 3)}, between(1, 4));
    ExpectDecodes<float>(shape);
    ExpectDecodes<double>(shape);
  }
}

TEST(PlaceRun, LeavesOtherSlotsAlone)
{
  const ArrayShape shape = Shape({2, 1, 1}, {0, 0, 0}, {0, 0, 0}, 3);
  const std::vector<float> values{7, 8};
  std::vector<float> output(6, -1);
  PlaceRun(shape, values.data(), 0, 2, sizeof(float), false, 1, output.data());
  EXPECT_EQ(output, (std::vector<float>{-1, 7, -1, -1, 8, -1}));
}

namespace {

/// The parameters of a test: bytes of an element, whether to swap them, and the misalignment of the values.
struct Manner
{
  std::size_t ElementBytes;
  bool Swap;
  std::size_t Offset;
};

/// Places all values of all components in runs of random lengths, and checks the effect of each run.
void ExpectRunsArePlaced(const ArrayShape& shape, const Manner& manner, testing::Dice& dice)
{
  const std::int64_t tuples = TuplesOf(shape.StoredDims());
  const std::size_t bytes = manner.ElementBytes;
  std::vector<std::byte> output(
      TuplesOf(shape.OutputDims()) * shape.OutputComponents * bytes + 1, std::byte(0x5a));
  std::vector<std::byte> expected = output;
  for (int slot = 0; slot < shape.OutputComponents; ++slot) {
    for (std::int64_t first = 0, count = 0; first < tuples; first += count) {
      count = std::min(dice.Between(0, tuples), tuples - first);
      // Each run has its own memory, so that AddressSanitizer detects reads beyond it.
      const std::vector<std::byte> memory = dice.Bytes(count * bytes + manner.Offset);
      const std::byte* values = memory.data() + manner.Offset;
      PlaceRun(shape, values, first, count, bytes, manner.Swap, slot, output.data());
      for (std::int64_t i = 0; i < count; ++i) {
        testing::PlaceNaively(
            shape, values + i * bytes, first + i, bytes, manner.Swap, slot, expected.data());
      }
      ASSERT_EQ(output, expected) << "values " << first << " to " << first + count << " of " << tuples;
    }
  }
}

}  // namespace

TEST(PlaceRun, AgreesWithTheDefinitionOnRandomShapesAndCuts)
{
  testing::Dice dice(17);
  for (int round = 0; round < 200; ++round) {
    const ArrayShape shape = dice.Shape(round % 8 == 0 ? 30 : 7);
    for (const std::size_t elementBytes : {1, 2, 4, 8}) {
      const auto offset = static_cast<std::size_t>(dice.Between(0, 7));
      ASSERT_NO_FATAL_FAILURE(ExpectRunsArePlaced(shape, {elementBytes, false, offset}, dice));
      ASSERT_NO_FATAL_FAILURE(ExpectRunsArePlaced(shape, {elementBytes, true, offset}, dice));
    }
  }
}

// Rows must not be joined for blocks that are as wide as the patch, but shifted.
TEST(PlaceRun, PutsPartsOfPatchesIntoBlocks)
{
  std::mt19937 engine(41);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine);
  };
  for (int round = 0; round < 2000; ++round) {
    Box stored, output, region;
    for (int axis = 0; axis < 3; ++axis) {
      const int width = between(1, 5);
      stored.Lower[axis] = between(-3, 3);
      stored.Upper[axis] = stored.Lower[axis] + width - 1;
      output.Lower[axis] = stored.Lower[axis] + between(1 - width, width - 1);
      output.Upper[axis] = std::max(output.Lower[axis] + width - 1 + between(0, 1), stored.Lower[axis]);
      region.Lower[axis] = std::max(stored.Lower[axis], output.Lower[axis]);
      region.Upper[axis] = std::min(stored.Upper[axis], output.Upper[axis]);
    }
    std::vector<float> values(stored.CellCount());
    std::vector<float> placed(output.CellCount(), -1), expected = placed;
    std::size_t next = 0;
    for (int k = stored.Lower[2]; k <= stored.Upper[2]; ++k) {
      for (int j = stored.Lower[1]; j <= stored.Upper[1]; ++j) {
        for (int i = stored.Lower[0]; i <= stored.Upper[0]; ++i) {
          values[next] = static_cast<float>(next);
          if (i >= region.Lower[0] && i <= region.Upper[0] && j >= region.Lower[1] && j <= region.Upper[1] &&
              k >= region.Lower[2] && k <= region.Upper[2]) {
            const std::int64_t row = (k - output.Lower[2]) * output.Width(1) + j - output.Lower[1];
            expected[row * output.Width(0) + i - output.Lower[0]] = values[next];
          }
          ++next;
        }
      }
    }
    const ArrayMapping window(stored, output, region, {1, 1, 1}, 1);
    PlaceRun(window, values.data(), 0, stored.CellCount(), sizeof(float), false, 0, placed.data());
    ASSERT_EQ(placed, expected) << "round " << round;
  }
}

TEST(PlaceRun, TurnsValuesAroundWhereTheyLie)
{
  testing::Dice dice(23);
  for (int round = 0; round < 100; ++round) {
    ArrayShape shape = dice.Shape(30);
    shape.OutputGhosts = shape.StoredGhosts;
    shape.OutputComponents = 1;
    const std::int64_t tuples = TuplesOf(shape.StoredDims());
    for (const std::size_t bytes : {1, 2, 4, 8}) {
      for (const bool swap : {false, true}) {
        const std::vector<std::byte> before = dice.Bytes(tuples * bytes);
        std::vector<std::byte> expected(before.size()), output = before;
        for (std::int64_t i = 0; i < tuples; ++i) {
          testing::PlaceNaively(shape, &before[i * bytes], i, bytes, swap, 0, expected.data());
        }
        const std::int64_t cut = dice.Between(0, tuples - 1);
        PlaceRun(shape, &output[cut * bytes], cut, tuples - cut, bytes, swap, 0, output.data());
        PlaceRun(shape, output.data(), 0, cut, bytes, swap, 0, output.data());
        ASSERT_EQ(output, expected) << tuples << " of " << bytes << " bytes cut at " << cut;
      }
    }
  }
}

TEST(PlaceRun, LeavesOutARunOfGhostsOnly)
{
  const ArrayShape shape = Shape({2, 2, 1}, {1, 1, 0}, {0, 0, 0});
  const std::vector<float> values(5, 7);
  std::vector<float> output(4, -1);
  PlaceRun(shape, values.data(), 0, 5, sizeof(float), false, 0, output.data());
  EXPECT_EQ(output, std::vector<float>(4, -1));
}

namespace {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

/// Cells: pure 0, mixed 0+1, pure 1, mixed 1+2+0.
struct Mixture
{
  Ints Materials{0, -1, 1, -3};
  Ints MixMaterial{0, 1, 1, 2, 0};
  Ints MixNext{2, 0, 4, 5, 0};
  Floats MixFraction{0.25f, 0.75f, 0.5f, 0.125f, 0.375f};

  /// Returns the fractions of a material; empty if the mixture is invalid.
  Floats Fractions(int material, std::int64_t cells = 4) const
  {
    Floats result(cells, -1);
    const bool sound = DecodeSparseFractions(this->Materials.data(), this->Materials.size(),
        this->MixMaterial.data(), this->MixNext.data(), this->MixFraction.data(), this->MixMaterial.size(),
        material, cells, result.data());
    return sound ? result : Floats();
  }
};

}  // namespace

TEST(SparseFractions, FollowEachCellsChain)
{
  const Mixture mixture;
  EXPECT_EQ(mixture.Fractions(0), (Floats{1, 0.25f, 0, 0.375f}));
  EXPECT_EQ(mixture.Fractions(1), (Floats{0, 0.75f, 1, 0.5f}));
  EXPECT_EQ(mixture.Fractions(2), (Floats{0, 0, 0, 0.125f}));
  EXPECT_EQ(mixture.Fractions(3), Floats(4, 0));
}

TEST(SparseFractions, TakeOneNumberForAWholePatch)
{
  Mixture mixture;
  mixture.Materials = {2};
  EXPECT_EQ(mixture.Fractions(2, 5), Floats(5, 1));
  EXPECT_EQ(mixture.Fractions(1, 5), Floats(5, 0));
}

TEST(SparseFractions, AddUpEntriesOfTheSameMaterial)
{
  Mixture mixture;
  mixture.MixMaterial = {1, 1, 1, 1, 1};
  EXPECT_EQ(mixture.Fractions(1), (Floats{0, 1, 1, 1}));
}

TEST(SparseFractions, RefuseIndicesOutside)
{
  for (const std::int32_t wild : {-6, -7, std::numeric_limits<std::int32_t>::min()}) {
    Mixture mixture;
    mixture.Materials[1] = wild;
    EXPECT_TRUE(mixture.Fractions(0).empty()) << wild;
  }
  for (const std::int32_t wild : {6, -1, std::numeric_limits<std::int32_t>::max()}) {
    Mixture mixture;
    mixture.MixNext[0] = wild;
    EXPECT_TRUE(mixture.Fractions(0).empty()) << wild;
  }
}

TEST(SparseFractions, RefuseMixedCellsWithoutMixArrays)
{
  Floats result(4, -1);
  const Mixture mixture;
  EXPECT_FALSE(
      DecodeSparseFractions(mixture.Materials.data(), 4, nullptr, nullptr, nullptr, 0, 0, 4, result.data()));
}

TEST(SparseFractions, RefuseCircles)
{
  Mixture mixture;
  mixture.MixNext = {2, 1, 4, 5, 0};
  EXPECT_TRUE(mixture.Fractions(0).empty());
  mixture.MixNext = {1, 0, 4, 5, 0};
  EXPECT_TRUE(mixture.Fractions(0).empty());
}

TEST(SparseFractions, EndSoonWhenAllCellsShareOneLongChain)
{
  constexpr int count = 200'000;  // following the list for each cell would take 4e10 steps
  Mixture mixture;
  mixture.Materials.assign(count, -1);
  mixture.MixMaterial.assign(count, 0);
  mixture.MixFraction.assign(count, 0.5f);
  mixture.MixNext.clear();
  for (int i = 2; i <= count; ++i) {
    mixture.MixNext.push_back(i);
  }
  mixture.MixNext.push_back(0);
  EXPECT_TRUE(mixture.Fractions(0, count).empty());
}

TEST(SparseFractions, TakeOneLongChain)
{
  constexpr int count = 100'000;
  Mixture mixture;
  mixture.Materials = {-1};
  mixture.MixMaterial.assign(count, 3);
  mixture.MixFraction.assign(count, 1.0f);
  mixture.MixNext.clear();
  for (int i = 2; i <= count; ++i) {
    mixture.MixNext.push_back(i);
  }
  mixture.MixNext.push_back(0);
  EXPECT_EQ(mixture.Fractions(3, 1), Floats{float(count)});
}

}  // namespace patchio
