#include "Exec/Decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace patchio {
namespace {

/// The value of one stored position, different for all positions and components.
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

/// The definition: every output position takes the nearest stored value.
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

/// All components placed in pieces of `rowsAtOnce` rows, then widened.
template <typename T>
std::vector<T> Decode(const ArrayShape& shape, std::int64_t rowsAtOnce)
{
  std::vector<T> output(shape.OutputTuples() * shape.OutputComponents, T(-1));
  const Dims stored = shape.StoredDims();
  const std::int64_t rows = stored[1] * stored[2];
  for (int c = 0; c < shape.OutputComponents; ++c) {
    const std::vector<T> values = StoredComponent<T>(shape, c);
    for (std::int64_t row = 0; row < rows; row += rowsAtOnce) {
      const std::int64_t count = std::min(rowsAtOnce, rows - row);
      PlaceRun(shape, values.data() + row * stored[0], row * stored[0], count * stored[0], sizeof(T), false, c,
          output.data());
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

TEST(ArrayShape, CountsGhostsOnBothSides)
{
  const ArrayShape shape = Shape({4, 5, 6}, {1, 0, 2}, {0, 3, 0}, 3);
  EXPECT_EQ(shape.StoredDims(), (Dims{6, 5, 10}));
  EXPECT_EQ(shape.OutputDims(), (Dims{4, 11, 6}));
  EXPECT_EQ(shape.StoredTuples(), 300);
  EXPECT_EQ(shape.OutputTuples(), 264);
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

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

/// Cells: pure 0, mixed 0+1, pure 1, mixed 1+2+0.
struct Mixture
{
  Ints Materials{0, -1, 1, -3};
  Ints MixMaterial{0, 1, 1, 2, 0};
  Ints MixNext{2, 0, 4, 5, 0};
  Floats MixFraction{0.25f, 0.75f, 0.5f, 0.125f, 0.375f};

  /// Empty when the mixture is not sound.
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
  constexpr int count = 200'000;  // followed for each cell this would be 4e10 steps
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
