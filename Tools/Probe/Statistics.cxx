#include "Probe/Statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace patchio::probe {
namespace {

constexpr double Pi = 3.14159265358979323846;
constexpr double Doubt = 0.01;  ///< that a ratio lies outside of its interval

/// P(T > t) for t = sqrt(freedom) tan(angle): in the angle, Student's density is a power of its cosine.
double TailAtAngle(double angle, double freedom)
{
  constexpr int Panels = 400;  // of Simpson's rule
  const double step = (Pi / 2 - angle) / (2 * Panels);
  double sum = 0;
  for (int i = 0; i <= 2 * Panels; ++i) {
    const double weight = i == 0 || i == 2 * Panels ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * std::pow(std::max(0.0, std::cos(angle + i * step)), freedom - 1);
  }
  const double scale = std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) / std::sqrt(Pi);
  return scale * sum * step / 3;
}

double ComputeStudentTail(double tail, double freedom)
{
  double low = 0, high = Pi / 2;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    (TailAtAngle(middle, freedom) > tail ? low : high) = middle;
  }
  return std::sqrt(freedom) * std::tan(low);
}

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

Spread SpreadOf(const std::vector<double>& values)
{
  if (values.empty()) {
    return {};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, std::accumulate(values.begin(), values.end(), 0.0) / values.size(), *most};
}

double StudentTail(double tail, double freedom)
{
  // Asked for again and again with the same few values.
  thread_local std::map<std::pair<double, double>, double> known;
  if (known.size() > 1000) {
    known.clear();
  }
  const auto [entry, isNew] = known.try_emplace({tail, freedom}, 0);
  if (isNew) {
    entry->second = ComputeStudentTail(tail, freedom);
  }
  return entry->second;
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

Ratio RatioOf(const std::vector<double>& before, const std::vector<double>& after, int tests)
{
  const LogMean a = LogMeanOf(before), b = LogMeanOf(after);
  const double freedom = a.Count + b.Count - 2;
  const double variance = freedom >= 1 ? (a.Squares + b.Squares) / freedom : 0;
  const double error = std::sqrt(variance * (1.0 / a.Count + 1.0 / b.Count));
  const bool both = a.Count >= 2 && b.Count >= 2;
  return Interval(b.Mean - a.Mean, error, both ? freedom : 0, std::min(a.Count, b.Count), tests);
}

Ratio MeanRatio(const std::vector<double>& ratios)
{
  const LogMean mean = LogMeanOf(ratios);
  const double freedom = mean.Count - 1;
  const double error = freedom >= 1 ? std::sqrt(mean.Squares / freedom / mean.Count) : 0;
  return Interval(mean.Mean, error, freedom, mean.Count, 1);
}

}  // namespace patchio::probe
