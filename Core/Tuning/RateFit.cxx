#include "Tuning/RateFit.h"

#include "Tuning/LeastSquares.h"

#include <fmt/format.h>

#include <boost/math/statistics/univariate_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace patchio {
bool IsValidSample(const RateSample& sample)
{
  return sample.Concurrency >= 1 && sample.Concurrency <= MostConcurrency && std::isfinite(sample.Rate) &&
         sample.Rate > 0;
}

namespace {

/// Standard deviation of ln(rate), assumed if no N has two samples.
constexpr double AssumedNoise = 0.05;
/// Least standard deviation of ln(rate), because no storage is more reproducible; also covers small errors of
/// the laws.
constexpr double LeastNoise = 0.01;

/// All samples of one N.
struct RatePoint
{
  int Concurrency = 1;
  double LogRate = 0;  ///< ln(rate): mean of two samples, median of more
  double Weight = 0;   ///< number of samples
};

struct RatePoints
{
  std::vector<RatePoint> All;  ///< by ascending N
  double SampleCount = 0;
  double WithinSquares = 0;  ///< sum of squares of ln(rate) around the points, as expected from Noise
  double Noise = AssumedNoise;
};

/// Returns an estimate of the standard deviation whose median is the true standard deviation for any number
/// of samples. squares: sum of squares around the median. The median of many such estimates is robust against
/// a few disturbed N.
double StandardDeviation(double squares, std::size_t samples)
{
  /// Median of two samples' standard deviation, relative to the true standard deviation.
  constexpr double medianOfTwo = 0.6745;
  constexpr double medianOfThree = 0.8326;
  constexpr double medianOfMore = 0.91;
  const double deviation = std::sqrt(squares / static_cast<double>(samples - 1));
  return deviation / (samples == 2 ? medianOfTwo : samples == 3 ? medianOfThree : medianOfMore);
}

/// Groups samples by N, and estimates the noise from the spread of samples with the same N. Ignores invalid
/// samples.
RatePoints GroupByConcurrency(const std::vector<RateSample>& samples)
{
  std::map<int, std::vector<double>> logs;
  std::vector<double> spreads;
  for (const RateSample& sample : samples) {
    if (IsValidSample(sample)) {
      logs[sample.Concurrency].push_back(std::log(sample.Rate));
    }
  }
  RatePoints points;
  for (const auto& [concurrency, values] : logs) {
    const RatePoint point{concurrency, MedianOf(values), static_cast<double>(values.size())};
    double squares = 0;
    for (const double value : values) {
      squares += (value - point.LogRate) * (value - point.LogRate);
    }
    if (values.size() > 1) {
      spreads.push_back(StandardDeviation(squares, values.size()));
    }
    points.SampleCount += point.Weight;
    points.All.push_back(point);
  }
  const double repeats = points.SampleCount - static_cast<double>(points.All.size());
  points.Noise = spreads.empty() ? AssumedNoise : std::max(MedianOf(spreads), LeastNoise);
  points.WithinSquares = spreads.empty() ? 0 : points.Noise * points.Noise * repeats;
  return points;
}

// The following values were found with samples from known laws (RateFitTest: two passes over N = 1 .. 128,
// noise of 0, 2 and 5 %, storages that peak at 4, 16 and 64) and with probes of the emulated parallel file
// system, whose N* is known (`./dev bench tuning`), unless a comment says otherwise.

/// Fraction of the greatest F that N* must reach. Fewer requests leave more of the storage to other programs,
/// and 2 % is within the noise of a quiet storage.
constexpr double BestRateFraction = 0.98;
/// Difference of Akaike's criterion that makes a shape clearly likelier, by a factor of exp(2 / 2) = 2.7.
constexpr double ClearlyLikelier = 2;
/// Usual exponent of falls, as in the emulated file system.
constexpr double UsualFall = 0.5;
///@{
/// The deviation that refutes all shapes: relative to the noise, and at least LeastRefutation, because few
/// samples tell little about their noise. The values come from probes of a shared local disk that no shape
/// fits (RateFitTest, joined samples).
constexpr double FarBeyondNoise = 3;
constexpr double LeastRefutation = 0.15;
///@}

/// A RateShape with the error of its fit to the samples.
struct FittedShape
{
  RateShape Shape;
  double LogTop = 0;
  double SquaredError = 0;  ///< weighted sum of squares of the points around the shape, in ln(rate)
  double Parameters = 0;    ///< number of fitted slopes, and of corners that the samples can show
};

/// The resolution of the search for the corners K and E of shapes with one sharpness.
struct CornerGrid
{
  double Sharpness;
  int StepsOfOctave;
  int StepsOfEnd;  ///< E is a multiple (0, 1, ...) of this number of steps above K
};

/// The grids on which FitShapes() searches for the corners, one for each sharpness. A search on a grid is not
/// trapped in a local minimum. Smooth corners need no fine grid.
constexpr CornerGrid Grids[] = {{0.5, 2, 1}, {1, 2, 1}, {1.4, 2, 1}, {2, 4, 2}, {100, 8, 2}};

/// A slope of a shape: absent, 1 as in the Universal Scalability Law, or any.
enum Slope
{
  Zero,
  One,
  Any
};

/// Fits a shape with the given corners, and appends it to `fitted`. Appends nothing if the equations have no
/// valid solution.
void FitShape(const RatePoints& points, const RateShape& corners, Slope rise, Slope fall,
    LeastSquares<3> equations, std::vector<FittedShape>& fitted)
{
  constexpr double exactly = 1e9;  // weight
  if (rise == One) {
    equations.Add({0, 1, 0}, 1, exactly);
  }
  if (fall == One) {
    equations.Add({0, 0, 1}, 1, exactly);
  }
  const auto x = equations.Solve(1u | (rise == Zero ? 0u : 2u) | (fall == Zero ? 0u : 4u));
  if (!x || !x->allFinite() || (*x)[1] < 0 || (*x)[2] < 0) {
    return;
  }
  FittedShape shape{corners, (*x)[0], equations.SquaredError(*x)};
  shape.Shape.Rise = (*x)[1] + 0.0;  // not -0
  shape.Shape.Fall = (*x)[2] + 0.0;
  const bool kneeSeen = corners.Knee < std::log(points.All.back().Concurrency);
  const bool endSeen = corners.End > std::log(points.All.front().Concurrency);
  shape.Parameters = (rise == Any) + (fall == Any) + (rise != Zero && kneeSeen) + (fall != Zero && endSeen);
  fitted.push_back(shape);
}

/// Fits all shapes with the given corners. withoutRise, withoutFall: also fits shapes without K, or without
/// E; the caller sets these flags for one position of K, or of E, so that each such shape is fitted once.
void FitSlopes(const RatePoints& points, const RateShape& corners, bool withoutRise, bool withoutFall,
    std::vector<FittedShape>& fitted)
{
  LeastSquares<3> equations;
  for (const RatePoint& point : points.All) {
    const auto [rise, fall] = corners.Bends(std::log(point.Concurrency));
    equations.Add({1, -rise, -fall}, point.LogRate, point.Weight);
  }
  // If only one point lies beyond E, a later E with a steeper fall fits as well, so the fit prefers falls of
  // the usual exponent.
  equations.Add({0, 0, 1}, 0, std::pow(points.Noise / UsualFall, 2));
  for (int rise = withoutRise ? Zero : One; rise <= Any; ++rise) {
    for (int fall = withoutFall ? Zero : One; fall <= Any; ++fall) {
      FitShape(points, corners, Slope(rise), Slope(fall), equations, fitted);
    }
  }
}

/// Fits shapes with all corners of the grids, which go one octave beyond the sampled range on both sides.
/// There must be at least two points. The constant is among the results.
std::vector<FittedShape> FitShapes(const RatePoints& points)
{
  const double least = std::log(points.All.front().Concurrency);
  const double range = std::log(points.All.back().Concurrency) - least;
  std::vector<FittedShape> fitted;
  for (const CornerGrid& grid : Grids) {
    const int steps = std::max(1, static_cast<int>(std::lround(range / std::log(2.0) * grid.StepsOfOctave)));
    const int first = -grid.StepsOfOctave, last = steps + grid.StepsOfOctave;
    const auto place = [&](int step) { return least + range * step / steps; };
    for (int knee = first; knee <= last; ++knee) {
      for (int end = knee; end <= last; end += grid.StepsOfEnd) {
        const RateShape corners{0, place(knee), place(end), 0, grid.Sharpness};
        FitSlopes(points, corners, knee == first, end == knee, fitted);
      }
    }
  }
  return fitted;
}

/// Returns Akaike's criterion, corrected for few samples (see FitRates()); smaller is more likely. Returns
/// infinity if the shape has too many parameters for the samples.
double AkaikeCriterion(const RatePoints& points, const FittedShape& shape)
{
  const double parameters = shape.Parameters + 2;  // plus top and noise
  const double left = points.SampleCount - parameters - 1;
  if (left <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double variance =
      std::max((shape.SquaredError + points.WithinSquares) / points.SampleCount, LeastNoise * LeastNoise);
  return points.SampleCount * std::log(variance) + 2 * parameters + 2 * parameters * (parameters + 1) / left;
}

/// Returns the shape with the fewest parameters, unless another shape is clearly more likely.
FittedShape SelectShape(const RatePoints& points, const std::vector<FittedShape>& shapes)
{
  std::map<double, std::pair<double, const FittedShape*>> likeliest;  // by the number of parameters
  double least = std::numeric_limits<double>::infinity();
  for (const FittedShape& shape : shapes) {
    const double criterion = AkaikeCriterion(points, shape);
    const auto [same, first] = likeliest.try_emplace(shape.Parameters, criterion, &shape);
    if (!first && criterion < same->second.first) {
      same->second = {criterion, &shape};
    }
    least = std::min(least, criterion);
  }
  return *std::find_if(likeliest.begin(), likeliest.end(), [&](const auto& entry) {
    return entry.second.first <= least + ClearlyLikelier;
  })->second.second;
}

/// The deviations of the points from a fitted shape, root mean squares of ln(rate).
struct Deviations
{
  double All = 0;
  double WithoutWorst = 0;  ///< without the point that deviates most, if there are enough points
};

Deviations DeviationsFrom(const RatePoints& points, const FittedShape& fitted)
{
  constexpr std::size_t enough = 5;
  std::vector<std::pair<double, double>> squares;
  for (const RatePoint& point : points.All) {
    const double off = point.LogRate - fitted.LogTop - fitted.Shape.LogRate(std::log(point.Concurrency));
    squares.emplace_back(off * off, point.Weight);
  }
  std::sort(squares.begin(), squares.end());
  const auto mean = [&squares] {
    double sum = 0, weight = 0;
    for (const auto& [square, pointWeight] : squares) {
      sum += square * pointWeight;
      weight += pointWeight;
    }
    return std::sqrt(sum / weight);
  };
  Deviations deviations{mean(), 0};
  if (squares.size() >= enough) {
    squares.pop_back();
  }
  deviations.WithoutWorst = mean();
  return deviations;
}

/// Returns N* of interpolated points: one of the sampled N, because the rate between two sampled N is
/// unknown.
int BestConcurrency(const RatePoints& points)
{
  const auto greatest = std::max_element(points.All.begin(), points.All.end(),
      [](const RatePoint& a, const RatePoint& b) { return a.LogRate < b.LogRate; });
  return std::find_if(points.All.begin(), points.All.end(), [&](const RatePoint& point) {
    return point.LogRate >= greatest->LogRate + std::log(BestRateFraction);
  })->Concurrency;
}

/// Returns N* of a shape. F is smooth, so the search steps N by 1 + N/4096.
int BestConcurrency(const RateFit& fit)
{
  const auto next = [](int n) { return n + 1 + n / 4096; };
  double greatest = fit.At(fit.Most());
  for (int n = fit.Least(); n < fit.Most(); n = next(n)) {
    greatest = std::max(greatest, fit.At(n));
  }
  for (int n = fit.Least(); n < fit.Most(); n = next(n)) {
    if (fit.At(n) >= BestRateFraction * greatest) {
      return n;
    }
  }
  return fit.Most();
}

}  // namespace

const char* NameOf(RateLaw law)
{
  switch (law) {
    case RateLaw::Constant:
      return "constant";
    case RateLaw::BrokenPowerLaw:
      return "broken power law";
    case RateLaw::Interpolated:
      return "no law fits, samples interpolated";
    case RateLaw::Unknown:
      break;
  }
  return "unknown";
}

/// Returns ln F at ln N = x in the sampled range.
double RateFit::LogAt(double x) const
{
  if (this->Points.empty()) {
    return this->LogTop + this->Shape.LogRate(x);
  }
  std::size_t next = 1;
  while (next + 1 < this->Points.size() && this->Points[next].first < x) {
    ++next;
  }
  const auto& [x0, y0] = this->Points[next - 1];
  const auto& [x1, y1] = this->Points[next];
  return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

double RateFit::At(double concurrency) const
{
  if (!this->Known() || !(concurrency > 0)) {
    return 0;
  }
  const double x = std::log(concurrency);
  const double least = std::log(this->LeastValue), most = std::log(this->MostValue);
  if (x < least) {
    return std::exp(this->LogAt(least) + x - least);
  }
  if (x > most) {
    constexpr double step = 1e-3;
    const double slope = (this->LogAt(most) - this->LogAt(most - step)) / step;
    return std::exp(this->LogAt(most) + (x - most) * std::clamp(slope, -1.0, 0.0));
  }
  return std::exp(this->LogAt(x));
}

std::vector<RateCoefficient> RateFit::Coefficients() const
{
  switch (this->LawValue) {
    case RateLaw::Constant:
      return {{"top", std::exp(this->LogTop)}};
    case RateLaw::BrokenPowerLaw:
      return {{"top", std::exp(this->LogTop)}, {"rise", this->Shape.Rise}, {"K", std::exp(this->Shape.Knee)},
          {"E", std::exp(this->Shape.End)}, {"fall", this->Shape.Fall}, {"s", this->Shape.Sharpness}};
    default:
      return {};
  }
}

std::string RateFit::Text() const
{
  if (!this->Known()) {
    return "unknown";
  }
  std::string text = fmt::format("{}:", NameOf(this->LawValue));
  for (const RateCoefficient& coefficient : this->Coefficients()) {
    text += fmt::format(" {} = {:.4g},", coefficient.Name, coefficient.Value);
  }
  return text + fmt::format(" N* = {}, residual {:.1f} %, noise {:.1f} %", this->BestValue,
                    100 * this->ResidualValue, 100 * this->NoiseValue);
}

RateFit FitRates(const std::vector<RateSample>& samples)
{
  constexpr std::size_t leastPoints = 3;
  const RatePoints points = GroupByConcurrency(samples);
  RateFit fit;
  if (points.All.size() < leastPoints) {
    return fit;
  }
  const FittedShape best = SelectShape(points, FitShapes(points));
  const Deviations deviations = DeviationsFrom(points, best);
  fit.LawValue = best.Parameters > 0 ? RateLaw::BrokenPowerLaw : RateLaw::Constant;
  fit.Shape = best.Shape;
  fit.LogTop = best.LogTop;
  fit.LeastValue = points.All.front().Concurrency;
  fit.MostValue = points.All.back().Concurrency;
  fit.ResidualValue = deviations.All;
  fit.NoiseValue = points.Noise;
  if (!std::isfinite(AkaikeCriterion(points, best)) ||
      deviations.WithoutWorst > std::max(FarBeyondNoise * points.Noise, LeastRefutation)) {
    fit.LawValue = RateLaw::Interpolated;
    for (const RatePoint& point : points.All) {
      fit.Points.emplace_back(std::log(point.Concurrency), point.LogRate);
    }
  }
  fit.BestValue = fit.LawValue == RateLaw::Interpolated ? BestConcurrency(points) : BestConcurrency(fit);
  return fit;
}

ConcurrencyRange EstimateBestRange(const std::vector<RateSample>& samples)
{
  constexpr int draws = 60;
  constexpr double tail = 0.05;
  const RateFit fit = FitRates(samples);
  if (!fit.Known()) {
    return {};
  }
  const RatePoints points = GroupByConcurrency(samples);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, points.Noise);
  std::vector<int> found{fit.Best()};
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<RateSample> alike;
    for (const RatePoint& point : points.All) {
      for (int i = 0; i < static_cast<int>(point.Weight); ++i) {
        alike.push_back({point.Concurrency, std::exp(point.LogRate + normal(random)), i});
      }
    }
    // Noise may hide the shape and make the fit a constant, whose N* of 1 would look certain but be wrong.
    const RateFit again = FitRates(alike);
    found.push_back(
        again.Law() == RateLaw::Constant ? BestConcurrency(GroupByConcurrency(alike)) : again.Best());
  }
  std::sort(found.begin(), found.end());
  const auto place = [&found](double part) {
    return found[static_cast<std::size_t>(part * static_cast<double>(found.size() - 1) + 0.5)];
  };
  return {std::min(place(tail), fit.Best()), std::max(place(1 - tail), fit.Best())};
}

double MedianOf(std::vector<double> values)
{
  return boost::math::statistics::median(values.begin(), values.end());
}

}  // namespace patchio
