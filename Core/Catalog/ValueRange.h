// Least and greatest value of a variable on a patch, where the files say.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace patchio {

struct ValueRange
{
  double Least = -std::numeric_limits<double>::infinity();
  double Greatest = std::numeric_limits<double>::infinity();

  /// Of a patch without values.
  static ValueRange None() { return {Unbounded().Greatest, Unbounded().Least}; }
  /// Of a patch of which nothing is known.
  static ValueRange Unbounded() { return {}; }

  bool Meets(const ValueRange& other) const
  {
    return std::max(this->Least, other.Least) <= std::min(this->Greatest, other.Greatest);
  }
  void Add(const ValueRange& other)
  {
    this->Least = std::min(this->Least, other.Least);
    this->Greatest = std::max(this->Greatest, other.Greatest);
  }
};

/// From least and greatest values of doubles that were stored as floats, perhaps: what rounding may have
/// moved is within. Unbounded where they are no range, as for patches of NaN.
inline ValueRange RangeOfFloats(double least, double greatest)
{
  if (!(least <= greatest)) {
    return ValueRange::Unbounded();
  }
  constexpr double rounding = std::numeric_limits<float>::epsilon();
  constexpr double denormal = std::numeric_limits<float>::min();
  return {least - std::abs(least) * rounding - denormal, greatest + std::abs(greatest) * rounding + denormal};
}

}  // namespace patchio
