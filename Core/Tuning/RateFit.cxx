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
namespace {

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

/// A law with its coefficients, in the order of the formula at RateLaw.
struct FittedLaw
{
  RateLaw Law;
  std::vector<double> Values;
  double Misfit = 0;  ///< weighted sum of squares of the points around the law, in ln(rate)
};

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

double LogOf(RateLaw law, const std::vector<double>& values, double x);

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

/// Gathers samples by N, and finds the noise from how far those of one N lie apart. Passes over what is no
/// sample.
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

/// ln F of the law at ln N = x.
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

/// The constant, the Universal Scalability Law, the parabola, the knee and the plateau, in this order, each
/// with the coefficients that fit best; without those that cannot be fitted to the points, of which there is
/// at least one.
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

// Found with samples drawn from known laws (RateFitTest: two passes over N = 1 .. 128, noise of 0, 2 and 5 %,
// storages that peak at 4, 16 and 64) and with probes of the emulated parallel file system, whose N* is known
// (`./dev bench tuning`), unless a comment says otherwise.

/// The share of the greatest F that N* must give. Fewer requests spare others; 2 % are within the noise of a
/// quiet storage.
constexpr double GoodEnough = 0.98;
/// The variance around a law over that of noise: the 91 % quantile of F(5, 8), for eight N in two passes and
/// a law of three numbers.
constexpr double AcceptedMisfit = 3;
/// The difference of Akaike's criterion that counts, as is usual: exp(4 / 2) = 7 times as likely.
constexpr double ClearlyLikelier = 4;
///@{
/// The deviation from a law, over noise, that refutes it; and at least so much, as few samples tell little of
/// their noise. From samples that no law fits, of probes of a shared local disk (RateFitTest, joined
/// samples).
constexpr double FarBeyondNoise = 3;
constexpr double Rough = 0.15;
///@}

/// Whether what the law leaves of the points is what samples of one N differ among each other anyway.
bool IsOnlyNoise(const RatePoints& points, const FittedLaw& law)
{
  const auto freedom = static_cast<double>(points.All.size()) - static_cast<double>(law.Values.size());
  return law.Misfit <= AcceptedMisfit * points.Noise * points.Noise * std::max(freedom, 1.0);
}

/// Akaike's criterion, corrected for few samples: less is likelier. Infinite where a law has too many
/// coefficients for the samples.
double UnlikelihoodOf(const RatePoints& points, const FittedLaw& law)
{
  const double samples = points.Samples;
  const double parameters = static_cast<double>(law.Values.size()) + 1;  // and the noise
  const double left = samples - parameters - 1;
  if (left <= 0 || points.All.size() < law.Values.size()) {
    return std::numeric_limits<double>::infinity();
  }
  const double variance = std::max((law.Misfit + points.Within) / samples, LeastNoise * LeastNoise);
  return samples * std::log(variance) + 2 * parameters + 2 * parameters * (parameters + 1) / left;
}

/// Whether the law leaves far more of the points than noise. One point that something else has disturbed does
/// not speak against a law.
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

/// Null where no law is good enough.
const FittedLaw* Choose(const RatePoints& points, const std::vector<FittedLaw>& laws)
{
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> unlikelihoods;
  for (const FittedLaw& law : laws) {
    unlikelihoods.push_back(IsRefuted(points, law) ? never : UnlikelihoodOf(points, law));
  }
  const auto least = std::min_element(unlikelihoods.begin(), unlikelihoods.end());
  // The constant and the Universal Scalability Law come first and are taken where they do.
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const bool preferred = laws[i].Law == RateLaw::Constant || laws[i].Law == RateLaw::Scalability;
    if (preferred && IsOnlyNoise(points, laws[i]) && unlikelihoods[i] <= *least + ClearlyLikelier) {
      return &laws[i];
    }
  }
  return *least < never ? &laws[least - unlikelihoods.begin()] : nullptr;
}

/// The points joined. Its misfit is that of the law that comes nearest.
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

/// N* of joined points: between them nothing was measured.
int SmallestGoodEnough(const RatePoints& points)
{
  const auto greatest = std::max_element(points.All.begin(), points.All.end(),
      [](const RatePoint& a, const RatePoint& b) { return a.Log < b.Log; });
  return std::find_if(points.All.begin(), points.All.end(), [&](const RatePoint& point) {
    return point.Log >= greatest->Log + std::log(GoodEnough);
  })->Concurrency;
}

/// N*. The range may be long, but F is smooth: beyond some thousand, N are tried in steps of a thousandth.
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

/// d ln F / d ln N at the greatest N sampled.
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
    // A constant may be what noise hides all else behind: its N* of 1 would be sure, and wrong.
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
