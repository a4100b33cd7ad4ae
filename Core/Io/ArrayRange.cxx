#include "Io/ArrayRange.h"

#include "Io/WordCopy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace patchio {
namespace {

/// The least and the greatest of the added values, except NaN.
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

/// Updates the extremes `least` and `greatest`, `Width` entries each, with the values in groups of `Width`.
/// Returns the number of values in complete groups.
template <typename Value, std::size_t Width>
std::size_t AddGroups(const Value* values, std::size_t count, Value* least, Value* greatest)
{
  std::size_t i = 0;
  for (; i + Width <= count; i += Width) {
    for (std::size_t j = 0; j < Width; ++j) {
      const Value value = values[i + j];
      least[j] = value < least[j] ? value : least[j];
      greatest[j] = value > greatest[j] ? value : greatest[j];
    }
  }
  return i;
}

#ifdef PATCHIO_X86

// The order of the operands matters: if the first operand is NaN, the result is the second operand.

__attribute__((target("avx2"))) std::size_t AddVectors(
    const double* values, std::size_t count, double* least, double* greatest)
{
  __m256d least0 = _mm256_loadu_pd(least), least1 = _mm256_loadu_pd(least + 4);
  __m256d greatest0 = _mm256_loadu_pd(greatest), greatest1 = _mm256_loadu_pd(greatest + 4);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256d values0 = _mm256_loadu_pd(values + i), values1 = _mm256_loadu_pd(values + i + 4);
    least0 = _mm256_min_pd(values0, least0);
    least1 = _mm256_min_pd(values1, least1);
    greatest0 = _mm256_max_pd(values0, greatest0);
    greatest1 = _mm256_max_pd(values1, greatest1);
  }
  _mm256_storeu_pd(least, least0);
  _mm256_storeu_pd(least + 4, least1);
  _mm256_storeu_pd(greatest, greatest0);
  _mm256_storeu_pd(greatest + 4, greatest1);
  return i;
}

__attribute__((target("avx2"))) std::size_t AddVectors(
    const float* values, std::size_t count, float* least, float* greatest)
{
  __m256 least0 = _mm256_loadu_ps(least), least1 = _mm256_loadu_ps(least + 8);
  __m256 greatest0 = _mm256_loadu_ps(greatest), greatest1 = _mm256_loadu_ps(greatest + 8);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256 values0 = _mm256_loadu_ps(values + i), values1 = _mm256_loadu_ps(values + i + 8);
    least0 = _mm256_min_ps(values0, least0);
    least1 = _mm256_min_ps(values1, least1);
    greatest0 = _mm256_max_ps(values0, greatest0);
    greatest1 = _mm256_max_ps(values1, greatest1);
  }
  _mm256_storeu_ps(least, least0);
  _mm256_storeu_ps(least + 8, least1);
  _mm256_storeu_ps(greatest, greatest0);
  _mm256_storeu_ps(greatest + 8, greatest1);
  return i;
}

#endif

/// Determines the extremes of many values, in vectors of 64 bytes.
template <typename Value>
class WideExtremes
{
public:
  WideExtremes()
  {
    std::fill_n(this->Least, Width, std::numeric_limits<Value>::max());
    std::fill_n(this->Greatest, Width, std::numeric_limits<Value>::lowest());
  }

  void Add(const Value* values, std::size_t count)
  {
    std::size_t i = this->AddCompleteVectors(values, count);
    for (; i < count; ++i) {
      this->Rest.Add(values[i]);
    }
  }

  Extremes<Value> Combined() const
  {
    return {std::min(this->Rest.Least, *std::min_element(this->Least, this->Least + Width)),
        std::max(this->Rest.Greatest, *std::max_element(this->Greatest, this->Greatest + Width))};
  }

private:
  static constexpr std::size_t Width = 64 / sizeof(Value);

  std::size_t AddCompleteVectors(const Value* values, std::size_t count)
  {
#ifdef PATCHIO_X86
    if constexpr (std::is_floating_point_v<Value>) {
      if (HasAvx2) {
        return AddVectors(values, count, this->Least, this->Greatest);
      }
    }
#endif
    return AddGroups<Value, Width>(values, count, this->Least, this->Greatest);
  }

  Value Least[Width], Greatest[Width];
  Extremes<Value> Rest;  ///< extremes of the values that do not fill a vector
};

/// The extremes of each component of an array, and the extremes of the squared lengths of its tuples.
template <typename Value>
struct TupleExtremes
{
  std::array<Extremes<Value>, ArrayRange::MostComponents> Components;
  Extremes<double> Squares;

  void Add(int components, const Value* values, std::size_t tuples)
  {
    for (std::size_t t = 0; t < tuples; ++t, values += components) {
      double square = 0;
      for (int c = 0; c < components; ++c) {
        this->Components[c].Add(values[c]);
        square += static_cast<double>(values[c]) * static_cast<double>(values[c]);
      }
      this->Squares.Add(square);
    }
  }
};

/// Returns the double that equals `value`, or, because doubles cannot represent all 64-bit integers, the next
/// double towards `outwards`, an infinity.
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

/// Returns the range of the values, or EmptyRange() if no value was a number.
template <typename Value>
ValueRange RangeOf(const Extremes<Value>& extremes)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return extremes.Least > extremes.Greatest
             ? ValueRange::EmptyRange()
             : ValueRange{BoundOf(extremes.Least, -infinity), BoundOf(extremes.Greatest, infinity)};
}

bool IsFiniteOrNone(const ValueRange& range)
{
  return range.Least > range.Greatest || (std::isfinite(range.Least) && std::isfinite(range.Greatest));
}

}  // namespace

/// The contiguous rows of a region of an array. Rows and planes that the region contains completely form one
/// long row.
struct ArrayRange::Rows
{
  Dims Tuples, First, End;
  std::size_t Length;

  Rows(const Dims& tuples, const Dims& first, const Dims& last)
      : Tuples(tuples), First(first), End{last[0] + 1, last[1] + 1, last[2] + 1}
  {
    std::int64_t length = this->End[0] - first[0];
    for (int axis = 1; axis < 3 && length == tuples[axis - 1] * (axis == 1 ? 1 : tuples[0]); ++axis) {
      length *= this->End[axis] - first[axis];
      this->End[axis] = first[axis] + 1;
    }
    this->Length = static_cast<std::size_t>(length);
  }

  /// Calls visit(index of the first tuple) for each row.
  template <typename Visit>
  void ForEach(const Visit& visit) const
  {
    for (std::int64_t k = this->First[2]; k < this->End[2]; ++k) {
      for (std::int64_t j = this->First[1]; j < this->End[1]; ++j) {
        visit((k * this->Tuples[1] + j) * this->Tuples[0] + this->First[0]);
      }
    }
  }
};

template <typename Value>
void ArrayRange::AddRows(int components, const Value* values, const Rows& rows)
{
  if (components == 1) {
    WideExtremes<Value> extremes;
    rows.ForEach([&](std::size_t first) { extremes.Add(values + first, rows.Length); });
    this->Components[0].Add(RangeOf(extremes.Combined()));
    return;
  }
  TupleExtremes<Value> extremes;
  rows.ForEach(
      [&](std::size_t first) { extremes.Add(components, values + first * components, rows.Length); });
  for (int c = 0; c < components; ++c) {
    this->Components[c].Add(RangeOf(extremes.Components[c]));
  }
  const ValueRange length = RangeOf(extremes.Squares);
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
  const auto count = static_cast<std::int64_t>(tuples);
  this->AddRegion(type, components, values, {count, 1, 1}, {0, 0, 0}, {count - 1, 0, 0});
}

void ArrayRange::AddRegion(ElementType type, int components, const void* values, const Dims& tuples,
    const Dims& first, const Dims& last)
{
  const Rows rows(tuples, first, last);
  if (components > MostComponents || rows.Length == 0) {
    return;
  }
  this->HasValues = true;
  VisitType(type,
      [&](auto value) { this->AddRows(components, static_cast<const decltype(value)*>(values), rows); });
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
