#include "Io/Decode.h"

#include "NaivePlace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace patchio {
namespace {

using testing::TuplesOf;

/// Returns the stored value with this index, which differs for all indices and components.
template <typename T>
T ValueAt(std::int64_t index, int component)
{
  return static_cast<T>(index * 10 + component);
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
        const std::int64_t index = (nearest(k, 2) * stored[1] + nearest(j, 1)) * stored[0] + nearest(i, 0);
        for (int c = 0; c < shape.OutputComponents; ++c) {
          values.push_back(ValueAt<T>(index, c));
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
    std::vector<T> values;
    for (std::int64_t index = 0; index < TuplesOf(stored); ++index) {
      values.push_back(ValueAt<T>(index, c));
    }
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

}  // namespace

/// The bytes before and after the elements stay.
TEST(SwapByteOrder, ReversesAnyNumberOfElementsOnAnyAddress)
{
  testing::Dice dice(5);
  for (const std::size_t elementBytes : {1, 2, 4, 8}) {
    for (std::size_t count = 0; count < 40; ++count) {
      const std::vector<std::byte> before = dice.Bytes((count + 2) * elementBytes);
      std::vector<std::byte> expected = before, after = before;
      const std::size_t offset = dice.Between(0, elementBytes);
      for (std::size_t i = 0; i < count; ++i) {
        std::byte* const element = &expected[offset + i * elementBytes];
        std::reverse(element, element + elementBytes);
      }
      SwapByteOrder(after.data() + offset, count, elementBytes);
      EXPECT_EQ(after, expected) << count << " of " << elementBytes;
    }
  }
}

TEST(ReplaceUndefined, TakesARangeAndNaNButNotInfinity)
{
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{-999, -998, -1001, -1000, -999.5f, infinity, -infinity, std::nanf(""), 0, 3e38f};
  EXPECT_TRUE(ReplaceUndefined(values.data(), 10, ElementType::Float32, -1000, -999));
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
  EXPECT_FALSE(ReplaceUndefined(wide.data(), 3, ElementType::Float64, 4, 5));
  EXPECT_TRUE(ReplaceUndefined(wide.data(), 3, ElementType::Float64, 2, 2));
  EXPECT_TRUE(std::isnan(wide[1]));
  std::vector<std::int16_t> integers{1, 2};
  EXPECT_FALSE(ReplaceUndefined(integers.data(), 2, ElementType::Int16, 1, 1));
  EXPECT_EQ(integers[0], 1);
}

// The range is one of real numbers: floats next to its ends are compared exactly, not with rounded ends.
TEST(ReplaceUndefined, ComparesAsIfInDouble)
{
  const double undefined = 9.999e20;
  const double from = undefined - undefined / 1e5, to = undefined + undefined / 1e5;
  for (const double end : {from, to}) {
    float value = static_cast<float>(end);
    for (int i = 0; i < 4; ++i) {
      value = std::nextafter(value, 0.0f);
    }
    for (int i = 0; i < 9; ++i, value = std::nextafter(value, std::numeric_limits<float>::infinity())) {
      float replaced = value;
      const bool inside = value >= from && value <= to;
      EXPECT_EQ(ReplaceUndefined(&replaced, 1, ElementType::Float32, from, to), inside);
      EXPECT_EQ(std::isnan(replaced), inside);
    }
  }
  float any = 1;
  EXPECT_TRUE(ReplaceUndefined(&any, 1, ElementType::Float32, -1e300, 1e300));
  any = 1;
  EXPECT_FALSE(ReplaceUndefined(&any, 1, ElementType::Float32, 1e300, 2e300));
  for (const double sign : {-1, 1}) {
    any = static_cast<float>(sign) * std::numeric_limits<float>::infinity();
    EXPECT_FALSE(ReplaceUndefined(&any, 1, ElementType::Float32, -1e300, 1e300)) << sign;
    EXPECT_FALSE(ReplaceUndefined(&any, 1, ElementType::Float32, 1e300, 2e300)) << sign;
    EXPECT_FALSE(ReplaceUndefined(&any, 1, ElementType::Float32, -2e300, -1e300)) << sign;
  }
}

TEST(Decode, AgreesWithTheDefinitionOnRandomShapes)
{
  testing::Dice dice(99);
  for (int round = 0; round < 300; ++round) {
    const ArrayShape shape = dice.Shape(6);
    ExpectDecodes<float>(shape);
    ExpectDecodes<double>(shape);
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

  /// Sets `cells` cells that all have the same chain of `chained` entries of one material.
  void SetChain(int chained, int material, float fraction, int cells)
  {
    this->Materials.assign(cells, -1);
    this->MixMaterial.assign(chained, material);
    this->MixFraction.assign(chained, fraction);
    this->MixNext.resize(chained);
    std::iota(this->MixNext.begin(), this->MixNext.end(), 2);
    this->MixNext.back() = 0;
  }

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

TEST(SparseFractions, RefuseWhatIsNoList)
{
  using Limits = std::numeric_limits<std::int32_t>;
  std::vector<Mixture> faults;
  for (const std::int32_t outside : {-6, -7, Limits::min()}) {
    faults.emplace_back().Materials[1] = outside;
  }
  for (const std::int32_t outside : {6, -1, Limits::max()}) {
    faults.emplace_back().MixNext[0] = outside;
  }
  faults.emplace_back().MixNext = {2, 1, 4, 5, 0};  // circles
  faults.emplace_back().MixNext = {1, 0, 4, 5, 0};
  faults.push_back({{0, -1, 1, -3}, {}, {}, {}});  // mixed cells without a list
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_TRUE(faults[i].Fractions(0).empty()) << i;
  }
}

TEST(SparseFractions, EndSoonWhenAllCellsShareOneLongChain)
{
  constexpr int count = 200'000;  // following the list for each cell would take 4e10 steps
  Mixture mixture;
  mixture.SetChain(count, 0, 0.5f, count);
  EXPECT_TRUE(mixture.Fractions(0, count).empty());
}

TEST(SparseFractions, TakeOneLongChain)
{
  constexpr int count = 100'000;
  Mixture mixture;
  mixture.SetChain(count, 3, 1, 1);
  EXPECT_EQ(mixture.Fractions(3, 1), Floats{float(count)});
}

}  // namespace patchio
