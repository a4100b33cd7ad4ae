// What repeated measurements say, and how sure it is. Rates are compared by their logarithms.
#pragma once

#include <utility>
#include <vector>

namespace patchio::probe {

struct Spread
{
  double Min = 0, Mean = 0, Max = 0;
};

/// All 0 where there are no values.
Spread SpreadOf(const std::vector<double>& values);

/// The value that a Student t variable with `freedom` >= 1 degrees of freedom exceeds with probability
/// `tail`, 0 < tail < 0.5.
double StudentTail(double tail, double freedom);

/// Mean and scatter of logarithms of positive values.
struct LogMean
{
  double Mean = 0;
  double Squares = 0;  ///< sum of squared deviations
  int Count = 0;
};
LogMean LogMeanOf(const std::vector<double>& values);

/// A ratio with the interval in which it lies with 99 % probability.
struct Ratio
{
  double Value = 1;
  double Low = 0, High = 0;  ///< 0 and infinity where one value cannot tell
  int Count = 0;             ///< of values that it was made of
};

/// Scatter of repetitions of several things that are thought to scatter alike.
struct LogNoise
{
  double Squares = 0;  ///< sum of squared deviations of logarithms, each from the mean of its own thing
  double Freedom = 0;

  void Add(const std::vector<double>& repetitions);
};

/// The ratio of the means of two sets of positive values that scatter like `noise`, `after` / `before`.
/// `tests`: how many such ratios are judged together, so that 1 % of the whole lot is wrong.
Ratio RatioOf(const std::vector<double>& before, const std::vector<double>& after, const LogNoise& noise,
    int tests = 1);
/// The same with their own scatter.
Ratio RatioOf(const std::vector<double>& before, const std::vector<double>& after);
/// The geometric mean of ratios that were measured independently; it is as unsure as they differ.
Ratio MeanRatio(const std::vector<double>& ratios);
/// The geometric mean of RatioOf() of these pairs of `before` and `after`; as unsure as each of them is,
/// however they differ.
Ratio MeanRatioOf(const std::vector<std::pair<std::vector<double>, std::vector<double>>>& pairs,
    const LogNoise& noise, int tests = 1);

}  // namespace patchio::probe
