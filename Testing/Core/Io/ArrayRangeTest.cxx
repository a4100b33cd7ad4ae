#include "Io/ArrayRange.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace patchio {
namespace {

template <typename Value>
constexpr ElementType TypeOf()
{
  return std::is_same_v<Value, float>           ? ElementType::Float32
         : std::is_same_v<Value, double>        ? ElementType::Float64
         : std::is_same_v<Value, std::int32_t>  ? ElementType::Int32
         : std::is_same_v<Value, std::int64_t>  ? ElementType::Int64
         : std::is_same_v<Value, std::uint8_t>  ? ElementType::UInt8
         : std::is_same_v<Value, std::int16_t>  ? ElementType::Int16
         : std::is_same_v<Value, std::int8_t>   ? ElementType::Int8
         : std::is_same_v<Value, std::uint32_t> ? ElementType::UInt32
         : std::is_same_v<Value, std::uint64_t> ? ElementType::UInt64
                                                : ElementType::UInt16;
}

template <typename Value>
class ArrayRangeOf : public ::testing::Test
{
};

using Values = ::testing::Types<float, double, std::int32_t, std::int64_t, std::uint8_t, std::int16_t,
    std::uint16_t, std::int8_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ArrayRangeOf, Values);

template <typename Value>
ArrayRange RangeOf(const std::vector<Value>& values, int components = 1)
{
  ArrayRange range;
  range.Add(TypeOf<Value>(), components, values.data(), values.size() / components);
  return range;
}

template <typename Least, typename Greatest>
void ExpectRange(const ArrayRange& range, int component, Least least, Greatest greatest)
{
  EXPECT_EQ(range.RangeOfComponent(component).Least, least) << "component " << component;
  EXPECT_EQ(range.RangeOfComponent(component).Greatest, greatest) << "component " << component;
}

TYPED_TEST(ArrayRangeOf, FindsTheExtremesWhereverTheyAre)
{
  // The length of vector registers, and shorter and longer arrays.
  for (const std::size_t count : {1, 2, 15, 16, 17, 64, 65, 131}) {
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<TypeParam> values(count, 50);
      values[place] = 3;
      values[count - 1 - place] = 3 == values[count - 1 - place] ? 3 : 90;
      const ArrayRange range = RangeOf(values);
      ASSERT_TRUE(range.IsKnown(1));
      EXPECT_EQ(range.RangeOfComponent(0).Least, 3) << place << " of " << count;
      const bool alone = count == 1, middle = place == count - 1 - place;
      EXPECT_EQ(range.RangeOfComponent(0).Greatest, alone ? 3 : middle ? 50 : 90) << place << " of " << count;
    }
  }
}

TYPED_TEST(ArrayRangeOf, KnowsTheEndsOfTheType)
{
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam end : {Limits::lowest(), Limits::max()}) {
    const ArrayRange range = RangeOf(std::vector<TypeParam>(40, end));
    const auto exact = static_cast<double>(end);
    // No double is equal to the largest integer of 64 bits.
    const bool between = std::is_integral_v<TypeParam> && sizeof(end) == 8 && end == Limits::max();
    ExpectRange(range, 0, between ? std::nextafter(exact, 0) : exact, exact);
  }
}

TYPED_TEST(ArrayRangeOf, KeepsComponentsApart)
{
  const ArrayRange range = RangeOf<TypeParam>({1, 20, 2, 3, 4, 0, 2, 10, 11}, 3);
  ExpectRange(range, 0, 1, 3);
  ExpectRange(range, 1, 4, 20);
  ExpectRange(range, 2, 0, 11);
  EXPECT_DOUBLE_EQ(range.RangeOfLength().Least, 5);
  EXPECT_DOUBLE_EQ(range.RangeOfLength().Greatest, std::sqrt(1.0 + 400 + 4));
}

template <typename Value>
class ArrayRangeOfFloats : public ::testing::Test
{
};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ArrayRangeOfFloats, FloatTypes);

TYPED_TEST(ArrayRangeOfFloats, LeavesOutWhatIsNoNumber)
{
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (std::size_t place = 0; place < 40; ++place) {
    std::vector<TypeParam> values(40, 1);
    values[39 - place] = 2;
    values[place] = nan;
    ASSERT_TRUE(RangeOf(values).IsKnown(1)) << place;
    ExpectRange(RangeOf(values), 0, 1, 2);
  }
  const ArrayRange pairs = RangeOf<TypeParam>({3, nan, nan, 7, 3, 4}, 2);
  ASSERT_TRUE(pairs.IsKnown(2));
  EXPECT_EQ(pairs.RangeOfComponent(1).Greatest, 7);
  EXPECT_EQ(pairs.RangeOfLength().Least, 5);
  EXPECT_EQ(pairs.RangeOfLength().Greatest, 5);
}

TYPED_TEST(ArrayRangeOfFloats, IsUnknownWhereSomeValueIsInfinite)
{
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const TypeParam odd : {infinity, -infinity}) {
    for (std::size_t place = 0; place < 40; ++place) {
      std::vector<TypeParam> values(40, 1);
      values[place] = odd;
      EXPECT_FALSE(RangeOf(values).IsKnown(1)) << odd << " at " << place;
      EXPECT_FALSE(RangeOf(values, 2).IsKnown(2)) << odd << " at " << place;
    }
  }
}

TYPED_TEST(ArrayRangeOfFloats, IsKnownToBeEmptyWhereNothingIsANumber)
{
  const auto isEmpty = [](const ValueRange& range) { return range.Least > range.Greatest; };
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const ArrayRange nothing = RangeOf(std::vector<TypeParam>(40, nan));
  ASSERT_TRUE(nothing.IsKnown(1));
  EXPECT_TRUE(isEmpty(nothing.RangeOfComponent(0)));
  const ArrayRange half = RangeOf<TypeParam>({1, nan, 2, nan}, 2);
  ASSERT_TRUE(half.IsKnown(2));
  EXPECT_EQ(half.RangeOfComponent(0).Greatest, 2);
  EXPECT_TRUE(isEmpty(half.RangeOfComponent(1)) && isEmpty(half.RangeOfLength()));
  const ArrayRange apart = RangeOf<TypeParam>({1, nan, nan, 2}, 2);
  ASSERT_TRUE(apart.IsKnown(2));
  EXPECT_TRUE(!isEmpty(apart.RangeOfComponent(1)) && isEmpty(apart.RangeOfLength()))
      << "no length is a number";
}

TEST(ArrayRange, IsUnknownWithoutValuesOfManyComponentsAndOfInfiniteLengths)
{
  EXPECT_FALSE(ArrayRange().IsKnown(1));
  EXPECT_FALSE(RangeOf(std::vector<float>()).IsKnown(1));
  EXPECT_FALSE(RangeOf(std::vector<float>(8, 1), 4).IsKnown(4));
  EXPECT_FALSE(RangeOf(std::vector<double>(4, 1e200), 2).IsKnown(2)) << "the length is infinite";
}

TEST(ArrayRange, LooksAtAPartOnly)
{
  constexpr std::int64_t n[3] = {5, 4, 3};
  std::vector<std::int32_t> values(n[0] * n[1] * n[2]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>((i * 37) % 60);
  }
  std::minstd_rand random(7);
  for (int trial = 0; trial < 500; ++trial) {
    Dims first, last;
    for (int axis = 0; axis < 3; ++axis) {
      first[axis] = random() % n[axis];
      last[axis] = first[axis] + random() % (n[axis] - first[axis]);
    }
    std::int32_t least = 60, greatest = -1;
    for (std::int64_t k = first[2]; k <= last[2]; ++k) {
      for (std::int64_t j = first[1]; j <= last[1]; ++j) {
        for (std::int64_t i = first[0]; i <= last[0]; ++i) {
          least = std::min(least, values[(k * n[1] + j) * n[0] + i]);
          greatest = std::max(greatest, values[(k * n[1] + j) * n[0] + i]);
        }
      }
    }
    ArrayRange range;
    range.AddRegion(ElementType::Int32, 1, values.data(), {n[0], n[1], n[2]}, first, last);
    ExpectRange(range, 0, least, greatest);
  }
}

TEST(ArrayRange, OfSeveralPartsHoldsForAll)
{
  ArrayRange all = RangeOf<float>({1, 2, 3, 4}, 2);
  all.Add(RangeOf<float>({-1, 7}, 2));
  all.Add(ArrayRange());
  ASSERT_TRUE(all.IsKnown(2));
  ExpectRange(all, 0, -1, 3);
  EXPECT_EQ(all.RangeOfComponent(1).Greatest, 7);
}

template <typename Value>
void ExpectBounds(Value least, Value greatest, double low, double high)
{
  ExpectRange(RangeOf<Value>({least, greatest}), 0, low, high);
}

/// Integers that a double can hold are exact, and others lie inside the range.
TEST(ArrayRange, HoldsLargeIntegers)
{
  const std::int64_t two53 = std::int64_t(1) << 53;
  ExpectBounds<std::int64_t>(7027698305728913, 7027698305728913, 7027698305728913.0, 7027698305728913.0);
  ExpectBounds<std::int64_t>(-two53, two53, -0x1p53, 0x1p53);
  ExpectBounds<std::int64_t>(-two53 - 1, two53 + 1, -0x1p53 - 2, 0x1p53 + 2);
  ExpectBounds<std::int64_t>(two53 + 1, two53 + 3, 0x1p53, 0x1p53 + 4);
  ExpectBounds<std::int64_t>(-two53 - 3, -two53 - 1, -0x1p53 - 4, -0x1p53);
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  ExpectBounds<std::int64_t>(lowest, std::numeric_limits<std::int64_t>::max(), -0x1p63, 0x1p63);
  ExpectBounds<std::int64_t>(lowest + 1, std::numeric_limits<std::int64_t>::max() - 1, -0x1p63, 0x1p63);
  ExpectBounds<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(), 0, 0x1p64);
  ExpectBounds<std::uint64_t>(
      (std::uint64_t(1) << 63) + 1, (std::uint64_t(1) << 63) + 2, 0x1p63, 0x1p63 + 2048);
}

}  // namespace
}  // namespace patchio
