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

  /// The range of a patch without values.
  static ValueRange None() { return {Unbounded().Greatest, Unbounded().Least}; }
  /// The range of a patch about which nothing is known.
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

/// The range of values that may have been rounded to floats after these least and greatest ones were taken.
/// Unbounded where the two are no range, as for patches of NaN.
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
