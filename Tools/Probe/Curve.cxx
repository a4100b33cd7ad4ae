#include "Probe/Curve.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace patchio::probe {
namespace {

/// Mean and scatter of logarithms of positive values.
struct LogMean
{
  double Mean = 0;
  double Squares = 0;  ///< sum of squared deviations
  int Count = 0;
};

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

/// Returns the value that a Student t variable with `freedom` >= 1 degrees of freedom exceeds with
/// probability `tail`.
double StudentTail(double tail, double freedom)
{
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
}

/// The mean logarithms of all points, and the common scatter of a single value around its mean.
struct CurveStatistics
{
  std::vector<LogMean> Points;
  double Noise = 0;
  double Freedom = 0;
};

CurveStatistics ComputeStatistics(const std::vector<CurvePoint>& curve)
{
  CurveStatistics statistics;
  double squares = 0;
  for (const CurvePoint& point : curve) {
    statistics.Points.push_back(LogMeanOf(point.Rates));
    squares += statistics.Points.back().Squares;
    statistics.Freedom += std::max(0, statistics.Points.back().Count - 1);
  }
  statistics.Noise = statistics.Freedom > 0 ? std::sqrt(squares / statistics.Freedom) : 0;
  return statistics;
}

/// Returns the index of the lowest point between `top` and the next higher point, or the end of the curve, in
/// the direction `step`, 1 or -1. Returns `top` if the neighbour is higher. sign: 1 for peaks; -1 for dips,
/// where low and high are exchanged.
std::size_t AdjacentMinimum(const std::vector<LogMean>& points, std::size_t top, int step, double sign)
{
  std::size_t foot = top;
  const auto end = static_cast<std::ptrdiff_t>(points.size());
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(top) + step; i >= 0 && i < end; i += step) {
    if (sign * points[i].Mean > sign * points[top].Mean) {
      break;
    }
    foot = sign * points[i].Mean < sign * points[foot].Mean ? i : foot;
  }
  return foot;
}

/// Returns the height of `top` over `foot`, divided by the greatest height of a feature of pure noise.
/// quantile: of Student's t distribution, for the significance level.
double CertaintyOf(const CurveStatistics& statistics, std::size_t top, std::size_t foot, double quantile)
{
  const LogMean &a = statistics.Points[top], &b = statistics.Points[foot];
  const double noise = statistics.Noise * std::sqrt(1.0 / a.Count + 1.0 / b.Count) * quantile;
  return std::abs(a.Mean - b.Mean) / std::max(noise, 1e-12);
}

}  // namespace

std::vector<Feature> FindFeatures(const std::vector<CurvePoint>& curve, const FeatureOptions& options)
{
  std::vector<Feature> features;
  const CurveStatistics statistics = ComputeStatistics(curve);
  if (statistics.Freedom < 1 || curve.size() < 3) {
    return features;
  }
  // Bonferroni correction: the largest difference by chance may be that of any two points.
  const double pairs = curve.size() * (curve.size() - 1) / 2.0;
  const double quantile =
      StudentTail(std::min(0.49, options.SignificanceLevel / 2 / pairs), statistics.Freedom);
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    for (const double sign : {1.0, -1.0}) {
      const std::size_t left = AdjacentMinimum(statistics.Points, i, -1, sign);
      const std::size_t right = AdjacentMinimum(statistics.Points, i, +1, sign);
      if (left == i || right == i) {
        continue;
      }
      const double here = statistics.Points[i].Mean;
      const double height = std::min(
          sign * (here - statistics.Points[left].Mean), sign * (here - statistics.Points[right].Mean));
      const double certainty =
          std::min(CertaintyOf(statistics, i, left, quantile), CertaintyOf(statistics, i, right, quantile));
      if (certainty > 1 && height >= std::log1p(options.LeastHeight)) {
        features.push_back({sign > 0, i, curve[i].Block, std::exp(sign * height), certainty});
      }
    }
  }
  return features;
}

std::vector<std::uint64_t> RefinedBlocks(
    const std::vector<CurvePoint>& curve, const Feature& feature, int perSide)
{
  const std::uint64_t low = curve[feature.Index - 1].Block;
  const std::uint64_t middle = feature.Block;
  const std::uint64_t high = curve[feature.Index + 1].Block;
  const bool paged = low % 4096 == 0 && middle % 4096 == 0 && high % 4096 == 0;
  const std::uint64_t unit = paged ? 4096 : 8;
  std::set<std::uint64_t> blocks{low, middle, high};
  for (int i = 1; i <= perSide; ++i) {
    const double part = static_cast<double>(i) / (perSide + 1);
    for (const auto& [from, to] : {std::pair(low, middle), std::pair(middle, high)}) {
      const double block = from * std::pow(static_cast<double>(to) / from, part);
      const std::uint64_t rounded = static_cast<std::uint64_t>(std::llround(block / unit)) * unit;
      if (rounded > from && rounded < to) {
        blocks.insert(rounded);
      }
    }
  }
  return {blocks.begin(), blocks.end()};
}

}  // namespace patchio::probe
