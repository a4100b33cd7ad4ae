#include "Decode/ArrayRange.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace patchio {
namespace {

/// Least and greatest so far. What is no number is neither less nor greater.
template <typename Value>
struct Extremes
{
  Value Least = std::numeric_limits<Value>::max();
  Value Greatest = std::numeric_limits<Value>::lowest();

  void Add(Value value)
  {
    this->Least = value < this->Least ? value : this->Least;
    this->Greatest = value > this->Greatest ? value : this->Greatest;
  }
};

/// Several at a time, each in a place of its own, as a compiler can only make such into vector instructions.
template <typename Value>
Extremes<Value> ExtremesOf(const Value* values, std::size_t count)
{
  constexpr std::size_t width = 64 / sizeof(Value);
  Value least[width], greatest[width];
  std::fill_n(least, width, std::numeric_limits<Value>::max());
  std::fill_n(greatest, width, std::numeric_limits<Value>::lowest());
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    for (std::size_t j = 0; j < width; ++j) {
      const Value value = values[i + j];
      least[j] = value < least[j] ? value : least[j];
      greatest[j] = value > greatest[j] ? value : greatest[j];
    }
  }
  Extremes<Value> all;
  for (std::size_t j = 0; j < width; ++j) {
    all.Least = std::min(all.Least, least[j]);
    all.Greatest = std::max(all.Greatest, greatest[j]);
  }
  for (; i < count; ++i) {
    all.Add(values[i]);
  }
  return all;
}

/// The double that is equal to the value, or else the next one towards `outwards`, an infinity: doubles do
/// not hold all integers of 64 bits.
template <typename Value>
double BoundOf(Value value, double outwards)
{
  const auto bound = static_cast<double>(value);
  if constexpr (std::is_integral_v<Value> && std::numeric_limits<Value>::digits > 53) {
    const double tooLarge = std::ldexp(1.0, std::numeric_limits<Value>::digits);
    const bool above = bound >= tooLarge || static_cast<Value>(bound) > value;
    const bool below = bound < tooLarge && static_cast<Value>(bound) < value;
    return (outwards < 0 ? above : below) ? std::nextafter(bound, outwards) : bound;
  }
  return bound;
}

/// None where there was no number.
template <typename Value>
ValueRange RangeOf(const Extremes<Value>& extremes)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return extremes.Least > extremes.Greatest
             ? ValueRange::None()
             : ValueRange{BoundOf(extremes.Least, -infinity), BoundOf(extremes.Greatest, infinity)};
}

bool IsFiniteOrNone(const ValueRange& range)
{
  return range.Least > range.Greatest || (std::isfinite(range.Least) && std::isfinite(range.Greatest));
}

}  // namespace

template <typename Value>
void ArrayRange::AddValues(int components, const Value* values, std::size_t tuples)
{
  if (components == 1) {
    this->Components[0].Add(RangeOf(ExtremesOf(values, tuples)));
    return;
  }
  std::array<Extremes<Value>, MostComponents> extremes;
  Extremes<double> squares;
  for (std::size_t t = 0; t < tuples; ++t, values += components) {
    double square = 0;
    for (int c = 0; c < components; ++c) {
      extremes[c].Add(values[c]);
      square += static_cast<double>(values[c]) * static_cast<double>(values[c]);
    }
    squares.Add(square);
  }
  for (int c = 0; c < components; ++c) {
    this->Components[c].Add(RangeOf(extremes[c]));
  }
  const ValueRange length = RangeOf(squares);
  if (length.Least <= length.Greatest) {
    this->Length.Add({std::sqrt(length.Least), std::sqrt(length.Greatest)});
  }
}

bool ArrayRange::IsKnown(int components) const
{
  return this->HasValues && components >= 1 && components <= MostComponents &&
         std::all_of(this->Components.begin(), this->Components.begin() + components, IsFiniteOrNone) &&
         (components == 1 || IsFiniteOrNone(this->Length));
}

void ArrayRange::Add(ElementType type, int components, const void* values, std::size_t tuples)
{
  if (components > MostComponents) {
    return;
  }
  this->HasValues |= tuples > 0;
  switch (type) {
    case ElementType::Float32:
      return this->AddValues(components, static_cast<const float*>(values), tuples);
    case ElementType::Float64:
      return this->AddValues(components, static_cast<const double*>(values), tuples);
    case ElementType::Int32:
      return this->AddValues(components, static_cast<const std::int32_t*>(values), tuples);
    case ElementType::Int64:
      return this->AddValues(components, static_cast<const std::int64_t*>(values), tuples);
    case ElementType::UInt8:
      return this->AddValues(components, static_cast<const std::uint8_t*>(values), tuples);
    case ElementType::Int16:
      return this->AddValues(components, static_cast<const std::int16_t*>(values), tuples);
    case ElementType::UInt16:
      return this->AddValues(components, static_cast<const std::uint16_t*>(values), tuples);
    case ElementType::Int8:
      return this->AddValues(components, static_cast<const std::int8_t*>(values), tuples);
    case ElementType::UInt32:
      return this->AddValues(components, static_cast<const std::uint32_t*>(values), tuples);
    case ElementType::UInt64:
      return this->AddValues(components, static_cast<const std::uint64_t*>(values), tuples);
  }
}

void ArrayRange::AddPart(ElementType type, int components, const void* values, const Dims& tuples,
    const Dims& first, const Dims& last)
{
  const auto* const begin = static_cast<const std::byte*>(values);
  const std::size_t tupleBytes = components * SizeOf(type);
  // Rows and planes that are wanted as a whole follow each other without a gap.
  const bool wholeRows = first[0] == 0 && last[0] == tuples[0] - 1;
  const bool wholePlanes = wholeRows && first[1] == 0 && last[1] == tuples[1] - 1;
  const std::int64_t planes = last[2] - first[2] + 1, rows = last[1] - first[1] + 1;
  const std::int64_t row = last[0] - first[0] + 1;
  const std::int64_t run = wholePlanes ? planes * rows * row : wholeRows ? rows * row : row;
  for (std::int64_t k = first[2]; k <= (wholePlanes ? first[2] : last[2]); ++k) {
    for (std::int64_t j = first[1]; j <= (wholeRows ? first[1] : last[1]); ++j) {
      const std::int64_t start = (k * tuples[1] + j) * tuples[0] + first[0];
      this->Add(type, components, begin + start * tupleBytes, run);
    }
  }
}

void ArrayRange::Add(const ArrayRange& other)
{
  for (int c = 0; c < MostComponents; ++c) {
    this->Components[c].Add(other.Components[c]);
  }
  this->Length.Add(other.Length);
  this->HasValues |= other.HasValues;
}

}  // namespace patchio
