// The family of shapes of F(N), the rate of a storage with N reads in flight.
#pragma once

#include <cmath>
#include <utility>

namespace patchio {

/// A shape of F(N): a power law with two smooth breaks,
///
///     F(N) = top (1 + (K/N)^s)^(-rise/s) (1 + (N/E)^s)^(-fall/s),  K <= E.
///
/// F rises like N^rise up to K, is level between K and E, and falls like N^-fall beyond E. With rise = fall =
/// 1 and s from 1 to 2, this is nearly the Universal Scalability Law (N. J. Gunther, "Guerrilla Capacity
/// Planning", 2007); a large s is for a storage that serves a fixed number of requests at once. The factor
/// `top` is not part of the shape.
struct RateShape
{
  double Rise = 0;  ///< >= 0
  double Knee = 0;  ///< ln K
  double End = 0;   ///< ln E
  double Fall = 0;  ///< >= 0
  double Sharpness = 1;

  /// Returns the smoothed distances of ln N = x below ln K and above ln E: ln(1 + (K/N)^s) / s and ln(1 +
  /// (N/E)^s) / s.
  std::pair<double, double> Bends(double x) const
  {
    return {this->Bend(this->Knee - x), this->Bend(x - this->End)};
  }

  /// Returns ln(F / top) at ln N = x.
  double LogRate(double x) const
  {
    const auto [below, above] = this->Bends(x);
    return -this->Rise * below - this->Fall * above;
  }

private:
  double Bend(double x) const
  {
    constexpr double far = 30;
    const double scaled = this->Sharpness * x;
    return scaled > far ? x : scaled < -far ? 0 : std::log1p(std::exp(scaled)) / this->Sharpness;
  }
};

}  // namespace patchio
