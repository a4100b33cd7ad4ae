#include "Probe/Statistics.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace patchio::probe {
namespace {

constexpr double Doubt = 0.01;  ///< that a ratio lies outside of its interval

Ratio Interval(double logarithm, double error, double freedom, int count, int tests)
{
  Ratio ratio;
  ratio.Value = std::exp(logarithm);
  ratio.Count = count;
  ratio.High = std::numeric_limits<double>::infinity();
  if (freedom >= 1) {
    const double reach = StudentTail(Doubt / 2 / std::max(1, tests), freedom) * error;
    ratio.Low = std::exp(logarithm - reach);
    ratio.High = std::exp(logarithm + reach);
  }
  return ratio;
}

}  // namespace

double StudentTail(double tail, double freedom)
{
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
}

Spread SpreadOf(const std::vector<double>& values)
{
  if (values.empty()) {
    return {};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, std::accumulate(values.begin(), values.end(), 0.0) / values.size(), *most};
}

LogMean LogMeanOf(const std::vector<double>& values)
{
  LogMean result;
  result.Count = static_cast<int>(values.size());
  for (const double value : values) {
    result.Mean += std::log(value) / values.size();
  }
  for (const double value : values) {
    result.Squares += std::pow(std::log(value) - result.Mean, 2);
  }
  return result;
}

void LogNoise::Add(const std::vector<double>& repetitions)
{
  this->Squares += LogMeanOf(repetitions).Squares;
  this->Freedom += std::max(0, static_cast<int>(repetitions.size()) - 1);
}

Ratio MeanRatioOf(const std::vector<std::pair<std::vector<double>, std::vector<double>>>& pairs,
    const LogNoise& noise, int tests)
{
  double mean = 0, variances = 0;  // of the mean, in units of that of one repetition
  int least = pairs.empty() ? 0 : std::numeric_limits<int>::max();
  const auto count = static_cast<double>(pairs.size());
  for (const auto& [before, after] : pairs) {
    const LogMean a = LogMeanOf(before), b = LogMeanOf(after);
    mean += (b.Mean - a.Mean) / count;
    variances += (1.0 / a.Count + 1.0 / b.Count) / (count * count);
    least = std::min({least, a.Count, b.Count});
  }
  const double variance = noise.Freedom >= 1 ? noise.Squares / noise.Freedom : 0;
  return Interval(mean, std::sqrt(variance * variances), noise.Freedom, least, tests);
}

Ratio RatioOf(
    const std::vector<double>& before, const std::vector<double>& after, const LogNoise& noise, int tests)
{
  return MeanRatioOf({{before, after}}, noise, tests);
}

Ratio RatioOf(const std::vector<double>& before, const std::vector<double>& after)
{
  LogNoise noise;
  if (before.size() >= 2 && after.size() >= 2) {
    noise.Add(before);
    noise.Add(after);
  }
  return RatioOf(before, after, noise);
}

Ratio MeanRatio(const std::vector<double>& ratios)
{
  const LogMean mean = LogMeanOf(ratios);
  const double freedom = mean.Count - 1;
  const double error = freedom >= 1 ? std::sqrt(mean.Squares / freedom / mean.Count) : 0;
  return Interval(mean.Mean, error, freedom, mean.Count, 1);
}

}  // namespace patchio::probe
