#include "Tuning/RateFit.h"

#include "Tuning/LeastSquares.h"
#include "Tuning/Median.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace patchio {
bool IsSample(const RateSample& sample)
{
  return sample.Concurrency >= 1 && sample.Concurrency <= MostConcurrency && std::isfinite(sample.Rate) &&
         sample.Rate > 0;
}

namespace {

/// Standard deviation of ln(rate) that is assumed if no N was sampled twice.
constexpr double AssumedNoise = 0.05;
/// Least standard deviation of ln(rate): no storage is more reproducible. It also covers small errors of the
/// laws.
constexpr double LeastNoise = 0.01;

/// All samples of one N.
struct RatePoint
{
  int Concurrency = 1;
  double Log = 0;     ///< ln(rate): mean of two samples, median of more
  double Weight = 0;  ///< number of samples
};

struct RatePoints
{
  std::vector<RatePoint> All;  ///< by ascending N
  double Samples = 0;
  double Within = 0;  ///< sum of squares of ln(rate) around the points, due to noise
  double Noise = AssumedNoise;
};

/// A law with its coefficients, in the order of the formula at RateLaw.
struct FittedLaw
{
  RateLaw Law;
  std::vector<double> Values;
  double Misfit = 0;  ///< weighted sum of squares of the points around the law, in ln(rate)
};

constexpr double UsualFall = 0.5;       ///< usual exponent of falls; that of the emulated file system
constexpr int StepsOfOctave = 16;       ///< grid for the knee
constexpr int CoarseStepsOfOctave = 8;  ///< grid for both ends of a plateau

/// Estimates the standard deviation of samples so that the result is too large as often as too small,
/// whatever the number of samples. The median of many such estimates is robust against a few disturbed N.
double SpreadOf(double squares, std::size_t samples)
{
  constexpr double medianOfTwo =
      0.6745;  ///< median of two samples' standard deviation, relative to the true one
  constexpr double medianOfThree = 0.8326;
  constexpr double medianOfMore = 0.91;
  const double deviation = std::sqrt(squares / static_cast<double>(samples - 1));
  return deviation / (samples == 2 ? medianOfTwo : samples == 3 ? medianOfThree : medianOfMore);
}

double LogOf(RateLaw law, const std::vector<double>& values, double x);

/// Interpolates ln F at ln N = x linearly. `points` contains ln N and ln F alternately.
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

/// Fits the Universal Scalability Law, which is linear in N/F = (1 + sigma (N-1) + kappa N (N-1)) / lambda.
/// Weights of (F/N)^2 make the errors relative.
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

/// A law with given knees, and its cost: the misfit plus a penalty for steep falls. If only one point lies
/// beyond the knee, a later knee with a steeper fall fits as well, so falls of the usual exponent are
/// preferred.
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

/// Finds the best knees on a grid, which is robust against the many local minima.
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

/// Groups samples by N, and estimates the noise from the spread of samples with the same N. Ignores invalid
/// samples.
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

/// Returns ln F of the law at ln N = x.
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

/// Fits the constant, the Universal Scalability Law, the parabola, the knee and the plateau, in this order.
/// Laws that cannot be fitted to the points are left out. There must be at least one point.
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

// The following values were found with samples from known laws (RateFitTest: two passes over N = 1 .. 128,
// noise of 0, 2 and 5 %, storages that peak at 4, 16 and 64) and with probes of the emulated parallel file
// system, whose N* is known (`./dev bench tuning`), unless a comment says otherwise.

/// Fraction of the greatest F that N* must reach. Fewer requests leave more for others, and 2 % is within the
/// noise of a quiet storage.
constexpr double GoodEnough = 0.98;
/// Accepted ratio of the variance around a law to that of noise: the 91 % quantile of F(5, 8), for eight N in
/// two passes and a law with three coefficients.
constexpr double AcceptedMisfit = 3;
/// Difference of Akaike's criterion that counts, as usual: exp(4 / 2) = 7 times as likely.
constexpr double ClearlyLikelier = 4;
///@{
/// The deviation that refutes a law: relative to the noise, and at least Rough, because few samples tell
/// little about their noise. From probes of a shared local disk that no law fits (RateFitTest, joined
/// samples).
constexpr double FarBeyondNoise = 3;
constexpr double Rough = 0.15;
///@}

/// Returns whether the deviations from the law are no larger than those among samples of one N.
bool IsOnlyNoise(const RatePoints& points, const FittedLaw& law)
{
  const auto freedom = static_cast<double>(points.All.size()) - static_cast<double>(law.Values.size());
  return law.Misfit <= AcceptedMisfit * points.Noise * points.Noise * std::max(freedom, 1.0);
}

/// Returns Akaike's criterion, corrected for few samples (see FitRates()); smaller is more likely. Returns
/// infinity if the law has too many coefficients for the samples.
double UnlikelihoodOf(const RatePoints& points, const FittedLaw& law)
{
  const double samples = points.Samples;
  const double parameters = static_cast<double>(law.Values.size()) + 1;  // plus the noise
  const double left = samples - parameters - 1;
  if (left <= 0 || points.All.size() < law.Values.size()) {
    return std::numeric_limits<double>::infinity();
  }
  const double variance = std::max((law.Misfit + points.Within) / samples, LeastNoise * LeastNoise);
  return samples * std::log(variance) + 2 * parameters + 2 * parameters * (parameters + 1) / left;
}

/// Returns whether the deviations from the law are far larger than noise. A single disturbed point does not
/// refute a law.
bool IsRefuted(const RatePoints& points, const FittedLaw& law)
{
  constexpr std::size_t enough = 5;
  std::vector<std::pair<double, double>> squares;
  for (const RatePoint& point : points.All) {
    const double off = point.Log - LogOf(law.Law, law.Values, std::log(point.Concurrency));
    squares.emplace_back(off * off, point.Weight);
  }
  std::sort(squares.begin(), squares.end());
  if (squares.size() >= enough) {
    squares.pop_back();
  }
  double sum = 0, weight = 0;
  for (const auto& [square, of] : squares) {
    sum += square * of;
    weight += of;
  }
  return std::sqrt(sum / weight) > std::max(FarBeyondNoise * points.Noise, Rough);
}

/// Returns the chosen law, or null if no law is good enough.
const FittedLaw* Choose(const RatePoints& points, const std::vector<FittedLaw>& laws)
{
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> unlikelihoods;
  for (const FittedLaw& law : laws) {
    unlikelihoods.push_back(IsRefuted(points, law) ? never : UnlikelihoodOf(points, law));
  }
  const auto least = std::min_element(unlikelihoods.begin(), unlikelihoods.end());
  // The constant and the Universal Scalability Law come first, and are taken if they suffice.
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const bool preferred = laws[i].Law == RateLaw::Constant || laws[i].Law == RateLaw::Scalability;
    if (preferred && IsOnlyNoise(points, laws[i]) && unlikelihoods[i] <= *least + ClearlyLikelier) {
      return &laws[i];
    }
  }
  return *least < never ? &laws[least - unlikelihoods.begin()] : nullptr;
}

/// Joins the points by straight lines. The misfit is that of the best law.
FittedLaw Join(const RatePoints& points, const std::vector<FittedLaw>& laws)
{
  FittedLaw joined{RateLaw::Joined, {}};
  for (const RatePoint& point : points.All) {
    joined.Values.insert(joined.Values.end(), {std::log(point.Concurrency), point.Log});
  }
  const auto nearest = std::min_element(
      laws.begin(), laws.end(), [](const FittedLaw& a, const FittedLaw& b) { return a.Misfit < b.Misfit; });
  joined.Misfit = nearest->Misfit;
  return joined;
}

/// Returns N* of joined points: one of the sampled N, because nothing was measured in between.
int SmallestGoodEnough(const RatePoints& points)
{
  const auto greatest = std::max_element(points.All.begin(), points.All.end(),
      [](const RatePoint& a, const RatePoint& b) { return a.Log < b.Log; });
  return std::find_if(points.All.begin(), points.All.end(), [&](const RatePoint& point) {
    return point.Log >= greatest->Log + std::log(GoodEnough);
  })->Concurrency;
}

/// Returns N* of a law. F is smooth, so beyond some thousand N are tried in steps of 1/4096.
int SmallestGoodEnough(const RateFit& fit)
{
  const auto next = [](int n) { return n + 1 + n / 4096; };
  double greatest = fit.At(fit.Most());
  for (int n = fit.Least(); n < fit.Most(); n = next(n)) {
    greatest = std::max(greatest, fit.At(n));
  }
  for (int n = fit.Least(); n < fit.Most(); n = next(n)) {
    if (fit.At(n) >= GoodEnough * greatest) {
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
    case RateLaw::Scalability:
      return "Universal Scalability Law";
    case RateLaw::Parabola:
      return "parabola";
    case RateLaw::Knee:
      return "knee";
    case RateLaw::Plateau:
      return "plateau";
    case RateLaw::Joined:
      return "no law fits, samples interpolated";
    case RateLaw::Unknown:
      break;
  }
  return "unknown";
}

double RateFit::InRange(double concurrency) const
{
  return std::exp(LogOf(this->LawValue, this->Values, std::log(concurrency)));
}

/// Returns d ln F / d ln N at the greatest N sampled.
double RateFit::SlopeAtEnd() const
{
  constexpr double step = 1e-3;
  const double end = std::log(this->MostValue);
  return (LogOf(this->LawValue, this->Values, end) - LogOf(this->LawValue, this->Values, end - step)) / step;
}

double RateFit::At(double concurrency) const
{
  if (!this->Known() || !(concurrency > 0)) {
    return 0;
  }
  if (concurrency < this->LeastValue) {
    return this->InRange(this->LeastValue) * concurrency / this->LeastValue;
  }
  if (concurrency > this->MostValue) {
    const double slope = std::clamp(this->SlopeAtEnd(), -1.0, 0.0);
    return this->InRange(this->MostValue) * std::pow(concurrency / this->MostValue, slope);
  }
  return this->InRange(concurrency);
}

std::vector<RateCoefficient> RateFit::Coefficients() const
{
  static const std::map<RateLaw, std::vector<const char*>> names{{RateLaw::Unknown, {}},
      {RateLaw::Constant, {"c"}}, {RateLaw::Scalability, {"lambda", "sigma", "kappa"}},
      {RateLaw::Parabola, {"a", "b", "c"}}, {RateLaw::Knee, {"top", "rise", "K", "fall"}},
      {RateLaw::Plateau, {"top", "rise", "K", "E", "fall"}}};
  std::vector<RateCoefficient> coefficients;
  for (std::size_t i = 0; this->LawValue != RateLaw::Joined && i < this->Values.size(); ++i) {
    coefficients.push_back({names.at(this->LawValue)[i], this->Values[i]});
  }
  return coefficients;
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
  const RatePoints points = PointsOf(samples);
  RateFit fit;
  if (points.All.size() < leastPoints) {
    return fit;
  }
  const std::vector<FittedLaw> laws = FitLaws(points);
  const FittedLaw* law = Choose(points, laws);
  const FittedLaw chosen = law ? *law : Join(points, laws);
  fit.LawValue = chosen.Law;
  fit.Values = chosen.Values;
  fit.LeastValue = points.All.front().Concurrency;
  fit.MostValue = points.All.back().Concurrency;
  fit.ResidualValue = std::sqrt(chosen.Misfit / points.Samples);
  fit.NoiseValue = points.Noise;
  fit.BestValue = law ? SmallestGoodEnough(fit) : SmallestGoodEnough(points);
  return fit;
}

ConcurrencyRange RangeOfBest(const std::vector<RateSample>& samples)
{
  constexpr int draws = 60;
  constexpr double tail = 0.05;
  const RateFit fit = FitRates(samples);
  if (!fit.Known()) {
    return {};
  }
  const RatePoints points = PointsOf(samples);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, points.Noise);
  std::vector<int> found{fit.Best()};
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<RateSample> alike;
    for (const RatePoint& point : points.All) {
      for (int i = 0; i < static_cast<int>(point.Weight); ++i) {
        alike.push_back({point.Concurrency, std::exp(point.Log + normal(random)), i});
      }
    }
    // A constant may be the result of noise that hides everything else: its N* of 1 would look certain and be
    // wrong.
    const RateFit again = FitRates(alike);
    found.push_back(again.Law() == RateLaw::Constant ? SmallestGoodEnough(PointsOf(alike)) : again.Best());
  }
  std::sort(found.begin(), found.end());
  const auto place = [&found](double part) {
    return found[static_cast<std::size_t>(part * static_cast<double>(found.size() - 1) + 0.5)];
  };
  return {std::min(place(tail), fit.Best()), std::max(place(1 - tail), fit.Best())};
}

}  // namespace patchio
