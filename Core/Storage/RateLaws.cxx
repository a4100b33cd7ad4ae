#include "Storage/RateLaws.h"

#include "Storage/LeastSquares.h"
#include "Storage/Median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace patchio {
namespace {

constexpr double UsualFall = 0.5;       ///< size of the exponents of falls; the emulated file system's is 0.5
constexpr int StepsOfOctave = 16;       ///< where a knee is looked for
constexpr int CoarseStepsOfOctave = 8;  ///< where both ends of a plateau are looked for

bool IsSample(const RateSample& sample)
{
  return sample.Concurrency >= 1 && sample.Concurrency <= MostConcurrency && std::isfinite(sample.Rate) &&
         sample.Rate > 0;
}

/// An estimate of the standard deviation that is too large as often as too small, whatever the number of
/// samples, so that the median of many does not care for the few N that something else disturbed.
double SpreadOf(double squares, std::size_t samples)
{
  constexpr double medianOfTwo =
      0.6745;  ///< of the standard deviation of two samples of a normal distribution
  constexpr double medianOfThree = 0.8326;
  constexpr double medianOfMore = 0.91;
  const double deviation = std::sqrt(squares / static_cast<double>(samples - 1));
  return deviation / (samples == 2 ? medianOfTwo : samples == 3 ? medianOfThree : medianOfMore);
}

/// ln F at ln N = x between points, which are ln N and ln F in turn.
double JoinedLogOf(const std::vector<double>& points, double x)
{
  std::size_t next = 2;
  while (next + 2 < points.size() && points[next] < x) {
    next += 2;
  }
  const double part = (x - points[next - 2]) / (points[next] - points[next - 2]);
  return points[next - 1] + part * (points[next + 1] - points[next - 1]);
}

FittedLaw WithMisfit(const RatePoints& points, RateLaw law, const std::vector<double>& values)
{
  FittedLaw fitted{law, values};
  for (const RatePoint& point : points.All) {
    const double off = point.Log - LogOf(law, values, std::log(point.Concurrency));
    fitted.Misfit += point.Weight * off * off;
  }
  return fitted;
}

FittedLaw FitConstant(const RatePoints& points)
{
  double mean = 0;
  for (const RatePoint& point : points.All) {
    mean += point.Weight * point.Log / points.Samples;
  }
  return WithMisfit(points, RateLaw::Constant, {std::exp(mean)});
}

/// Linear in the reciprocals: N/F = (1 + sigma (N-1) + kappa N (N-1)) / lambda; the weights (F/N)^2 make
/// errors relative.
std::optional<FittedLaw> FitScalability(const RatePoints& points)
{
  LeastSquares<3> equations;
  for (const RatePoint& point : points.All) {
    const double n = point.Concurrency;
    const double weight = std::exp(point.Log) / n;
    equations.Add({weight, weight * (n - 1), weight * n * (n - 1)}, 1, point.Weight);
  }
  const auto solution = equations.SolveNonNegative({false, true, true});
  if (!solution || !((*solution)[0] > 0)) {
    return {};
  }
  const double reciprocal = (*solution)[0];
  return WithMisfit(points, RateLaw::Scalability,
      {1 / reciprocal, (*solution)[1] / reciprocal, (*solution)[2] / reciprocal});
}

std::optional<FittedLaw> FitParabola(const RatePoints& points)
{
  LeastSquares<3> equations;
  for (const RatePoint& point : points.All) {
    const double octaves = std::log2(point.Concurrency);
    equations.Add({1, octaves, -octaves * octaves}, point.Log, point.Weight);
  }
  const auto solution = equations.SolveNonNegative({false, false, true});
  if (!solution) {
    return {};
  }
  return WithMisfit(
      points, RateLaw::Parabola, {(*solution)[0], (*solution)[1], 0.0 - (*solution)[2]});  // not -0
}

/// The law with given knees, and what it costs: misfit, and steep falls. Where only one point lies beyond the
/// knee, a knee further on and a steeper fall fit as well; that is why falls of the usual size are preferred.
struct Hinge
{
  double Cost = std::numeric_limits<double>::infinity();
  double Top = 0, Rise = 0, Fall = 0;
  double Knee = 1, End = 1;
};

Hinge FitHinge(const RatePoints& points, double knee, double end)
{
  LeastSquares<3> equations;
  for (const RatePoint& point : points.All) {
    const double x = std::log(point.Concurrency);
    equations.Add({1, std::min(x - knee, 0.0), -std::max(x - end, 0.0)}, point.Log, point.Weight);
  }
  equations.Add({0, 0, 1}, 0, std::pow(points.Noise / UsualFall, 2));
  Hinge hinge;
  if (const auto solution = equations.SolveNonNegative({false, true, true})) {
    hinge = {equations.Misfit(*solution), (*solution)[0], (*solution)[1], (*solution)[2], knee, end};
  }
  return hinge;
}

/// Knees on a grid, as nothing else is robust against the many local minima.
Hinge BestHinge(const RatePoints& points, int stepsOfOctave, bool plateau)
{
  const double least = std::log(points.All.front().Concurrency);
  const double most = std::log(points.All.back().Concurrency);
  const int steps =
      std::max(1, static_cast<int>(std::lround((most - least) / std::log(2.0) * stepsOfOctave)));
  const auto place = [&](int step) { return least + (most - least) * step / steps; };
  Hinge best;
  for (int knee = 0; knee <= steps; ++knee) {
    const int last = plateau ? steps : knee;
    for (int end = knee; end <= last; ++end) {
      const Hinge hinge = FitHinge(points, place(knee), place(end));
      if (hinge.Cost < best.Cost) {
        best = hinge;
      }
    }
  }
  return best;
}

std::optional<FittedLaw> FitKnee(const RatePoints& points)
{
  const Hinge best = BestHinge(points, StepsOfOctave, false);
  if (!std::isfinite(best.Cost)) {
    return {};
  }
  return WithMisfit(points, RateLaw::Knee, {std::exp(best.Top), best.Rise, std::exp(best.Knee), best.Fall});
}

std::optional<FittedLaw> FitPlateau(const RatePoints& points)
{
  const Hinge best = BestHinge(points, CoarseStepsOfOctave, true);
  if (!std::isfinite(best.Cost)) {
    return {};
  }
  return WithMisfit(points, RateLaw::Plateau,
      {std::exp(best.Top), best.Rise, std::exp(best.Knee), std::exp(best.End), best.Fall});
}

}  // namespace

RatePoints PointsOf(const std::vector<RateSample>& samples)
{
  std::map<int, std::vector<double>> logs;
  std::vector<double> spreads;
  for (const RateSample& sample : samples) {
    if (IsSample(sample)) {
      logs[sample.Concurrency].push_back(std::log(sample.Rate));
    }
  }
  RatePoints points;
  for (const auto& [concurrency, values] : logs) {
    const RatePoint point{concurrency, MedianOf(values), static_cast<double>(values.size())};
    double squares = 0;
    for (const double value : values) {
      squares += (value - point.Log) * (value - point.Log);
    }
    if (values.size() > 1) {
      spreads.push_back(SpreadOf(squares, values.size()));
    }
    points.Samples += point.Weight;
    points.All.push_back(point);
  }
  const double repeats = points.Samples - static_cast<double>(points.All.size());
  points.Noise = spreads.empty() ? AssumedNoise : std::max(MedianOf(spreads), LeastNoise);
  points.Within = spreads.empty() ? 0 : points.Noise * points.Noise * repeats;
  return points;
}

double LogOf(RateLaw law, const std::vector<double>& values, double x)
{
  switch (law) {
    case RateLaw::Constant:
      return std::log(values[0]);
    case RateLaw::Scalability: {
      const double n = std::exp(x);
      return std::log(values[0] * n / (1 + values[1] * (n - 1) + values[2] * n * (n - 1)));
    }
    case RateLaw::Parabola: {
      const double octaves = x / std::log(2.0);
      return values[0] + values[1] * octaves + values[2] * octaves * octaves;
    }
    case RateLaw::Knee:
      return std::log(values[0]) + values[1] * std::min(x - std::log(values[2]), 0.0) -
             values[3] * std::max(x - std::log(values[2]), 0.0);
    case RateLaw::Plateau:
      return std::log(values[0]) + values[1] * std::min(x - std::log(values[2]), 0.0) -
             values[4] * std::max(x - std::log(values[3]), 0.0);
    case RateLaw::Joined:
      return JoinedLogOf(values, x);
    case RateLaw::Unknown:
      break;
  }
  return -std::numeric_limits<double>::infinity();
}

std::vector<FittedLaw> FitLaws(const RatePoints& points)
{
  std::vector<FittedLaw> laws{FitConstant(points)};
  for (const auto& fitted :
      {FitScalability(points), FitParabola(points), FitKnee(points), FitPlateau(points)}) {
    if (fitted && std::isfinite(fitted->Misfit)) {
      laws.push_back(*fitted);
    }
  }
  return laws;
}

}  // namespace patchio
