// The shapes that the rate over the requests in flight may have, and how each is fitted to samples.
#pragma once

#include "Storage/RateFit.h"

#include <vector>

namespace patchio {

/// Standard deviation of ln(rate) that is assumed where no N was sampled twice.
constexpr double AssumedNoise = 0.05;
/// No storage repeats itself better; this also hides what laws leave out.
constexpr double LeastNoise = 0.01;

/// All samples of one N.
struct RatePoint
{
  int Concurrency = 1;
  double Log = 0;     ///< ln(rate): the mean of two samples, the median of more
  double Weight = 0;  ///< number of samples
};

struct RatePoints
{
  std::vector<RatePoint> All;  ///< by ascending N
  double Samples = 0;
  double Within = 0;  ///< sum of squares of ln(rate) around the points that noise makes
  double Noise = AssumedNoise;
};

/// Gathers samples by N, and finds the noise from how far those of one N lie apart. Passes over what is no
/// sample.
RatePoints PointsOf(const std::vector<RateSample>& samples);

/// A law with its coefficients, in the order of the formula at RateLaw.
struct FittedLaw
{
  RateLaw Law;
  std::vector<double> Values;
  double Misfit = 0;  ///< weighted sum of squares of the points around the law, in ln(rate)
};

/// ln F of the law at ln N = x.
double LogOf(RateLaw law, const std::vector<double>& values, double x);

/// The constant, the Universal Scalability Law, the parabola, the knee and the plateau, in this order, each
/// with the coefficients that fit best; without those that cannot be fitted to the points, of which there is
/// at least one.
std::vector<FittedLaw> FitLaws(const RatePoints& points);

}  // namespace patchio
