#include "Storage/RateFit.h"

#include "Storage/RateLaws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

namespace patchio {
namespace {

// Found with samples drawn from known laws (RateFitTest: two passes over N = 1 .. 128, noise of 0, 2 and 5 %,
// storages that peak at 4, 16 and 64) and with probes of the emulated parallel file system, whose N* is known
// (`./dev bench tuning`), unless the table says otherwise.
//
// | constant        | meaning                                          | why this value |
// |-----------------|--------------------------------------------------|----------------------------------------|
// | GoodEnough      | share of the greatest F that N* must give        | fewer requests spare others; 2 % are
// | |                 |                                                  | within the noise of a quiet
// storage    | | AcceptedMisfit  | variance around a law over that of noise         | 91 % quantile of F(5,
// 8): eight N in   | |                 |                                                  | two passes, a law
// of three numbers     | | ClearlyLikelier | difference of Akaike's criterion                 | usual: exp(4
// / 2) = 7 times as likely  | | FarBeyondNoise  | deviation from a law, over noise, that refutes it| samples
// that no law fits, from probes  | | Rough           | ... and at least so much, as few samples tell    | of
// a shared local disk (RateFitTest,   | |                 | little of their noise | joined samples) |
constexpr double GoodEnough = 0.98;
constexpr double AcceptedMisfit = 3;
constexpr double ClearlyLikelier = 4;
constexpr double FarBeyondNoise = 3;
constexpr double Rough = 0.15;

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
