#include "Formats/GRADS/GradsGaussian.h"

#include <cmath>

namespace patchio::grads {
namespace {

constexpr double Pi = 3.14159265358979323846;

/// A root of the Legendre polynomial of degree `n`, by Newton's method from a good guess.
double LegendreRoot(int n, double x)
{
  for (int step = 0; step < 20; ++step) {
    double value = x, before = 1;
    for (int k = 2; k <= n; ++k) {
      const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
      before = value;
      value = next;
    }
    const double slope = n * (x * value - before) / (x * x - 1);
    const double change = value / slope;
    x -= change;
    if (std::abs(change) < 1e-15) {
      break;
    }
  }
  return x;
}

}  // namespace

std::vector<double> GaussianLatitudes(int count)
{
  std::vector<double> latitudes(count);
  for (int i = 0; i < count; ++i) {
    const double guess = -std::cos(Pi * (i + 0.75) / (count + 0.5));
    latitudes[i] = count == 1 ? 0 : std::asin(LegendreRoot(count, guess)) * 180 / Pi;
  }
  return latitudes;
}

}  // namespace patchio::grads
