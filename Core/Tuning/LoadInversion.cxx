#include "Tuning/LoadInversion.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace patchio {
namespace {

// Chosen on the emulated parallel file system with 0, 4 and 16 requests of others, where the error of NC is
// 0.5, 0 and 0.1 (`./dev bench tuning`), and on laws with errors of known size (LoadInversionTest).
//
// | constant      | value | meaning |
// |---------------|-------|-----------------------------------------------------------------------------------|
// | MostWindows   | 8     | windows that are judged together: about 3 s, within which a load seldom changes |
// | LeastNoise    | 0.03  | relative standard deviation of a window; the curve may state a greater one | |
// LeastResidual | 0.02  | the same of the curve at one N against another N | | Scale         | 0.04  | the
// same of the whole curve: storages are not the same every day                   | | ShapeReach    | 0.35  |
// how far an error of the curve reaches, in ln N: half an octave                     | | Freedom       | 4 |
// of Student's t: the size of the errors is itself known only roughly                |
constexpr std::size_t MostWindows = 8;
constexpr double LeastNoise = 0.03;
constexpr double LeastResidual = 0.02;
constexpr double Scale = 0.04;
constexpr double ShapeReach = 0.35;
constexpr double Freedom = 4;

/// Loads of which each stands for a range of loads; Weight is how likely that range is beforehand.
struct Candidate
{
  double Load;
  double Weight;
};

/// Up to four times what was measured. Small loads are likelier: the density is 1 / (load + 4).
std::vector<Candidate> Candidates(double mostMeasured)
{
  const double end = 4 * std::clamp(mostMeasured, 1.0, 1e5);
  std::vector<Candidate> all;
  for (double load = 0; load <= end;) {
    const double step = std::max(0.125, 0.01 * load);
    all.push_back({load, step / (load + 4)});
    load += step;
  }
  return all;
}

/// Errors of windows depend on each other: the curve is wrong for all of them alike, and for those of one N
/// even more so. This is their covariance.
Eigen::MatrixXd CovarianceOf(const LoadCurve& curve, const std::vector<LoadWindow>& windows)
{
  const double own = std::max(curve.Noise, LeastNoise);
  const double shape = std::max(curve.Residual, LeastResidual);
  const auto size = static_cast<Eigen::Index>(windows.size());
  return Eigen::MatrixXd::NullaryExpr(size, size, [&](Eigen::Index row, Eigen::Index column) {
    const double apart = std::log(windows[row].InFlight / windows[column].InFlight) / ShapeReach;
    return Scale * Scale + shape * shape * std::exp(-0.5 * apart * apart) + (row == column ? own * own : 0);
  });
}

/// How badly each candidate explains the windows; infinite where the curve has no value.
std::vector<double> Squares(
    const LoadCurve& curve, const std::vector<LoadWindow>& windows, const std::vector<Candidate>& candidates)
{
  const Eigen::LLT<Eigen::MatrixXd> errors(CovarianceOf(curve, windows));
  std::vector<double> squares(candidates.size(), INFINITY);
  Eigen::VectorXd deviations(windows.size());
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    bool sensible = true;
    for (std::size_t window = 0; window < windows.size(); ++window) {
      const double own = windows[window].InFlight;
      const double all = own + candidates[index].Load;
      const double expected = own / all * curve.Rate(all);
      sensible = sensible && std::isfinite(expected) && expected > 0;
      deviations[window] = sensible ? std::log(windows[window].Rate / expected) : 0;
    }
    if (sensible) {
      // The square of the deviations in units of the errors: about their number where they are just errors.
      squares[index] = errors.matrixL().solve(deviations).squaredNorm();
    }
  }
  return squares;
}

double LeastOf(const std::vector<double>& squares)
{
  return *std::min_element(squares.begin(), squares.end());
}

/// Four standard deviations above what errors alone give.
bool Explained(double square, std::size_t windows)
{
  return square <= windows + 4 * std::sqrt(2.0 * windows);
}

/// What is likely after all: weights that sum up to 1. How great the errors are is itself known only roughly,
/// so great ones are likelier than those of a normal distribution (Student's t with Freedom degrees).
std::vector<double> Likelihoods(
    const std::vector<Candidate>& candidates, const std::vector<double>& squares, std::size_t windows)
{
  const double least = LeastOf(squares);
  std::vector<double> weights(candidates.size());
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const double likelihood = std::pow(
        (Freedom + squares[index]) / (Freedom + least), -0.5 * (Freedom + static_cast<double>(windows)));
    weights[index] = candidates[index].Weight * likelihood;
    sum += weights[index];
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

double Quantile(const std::vector<Candidate>& candidates, const std::vector<double>& weights, double part)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    sum += weights[index];
    if (sum >= part) {
      return candidates[index].Load;
    }
  }
  return candidates.back().Load;
}

/// How likely `load` is right within 2 or 25 %.
double Probability(const std::vector<Candidate>& candidates, const std::vector<double>& weights, double load)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const double truth = candidates[index].Load;
    sum += std::abs(load - truth) <= std::max(2.0, 0.25 * truth) ? weights[index] : 0;
  }
  return sum;
}

bool Sensible(const LoadWindow& window)
{
  return std::isfinite(window.InFlight) && window.InFlight > 0 && std::isfinite(window.Rate) &&
         window.Rate > 0;
}

/// One N alone cannot tell a loaded storage from one that has become slower.
double CrossCheck(const std::vector<LoadWindow>& windows)
{
  const auto [least, most] = std::minmax_element(windows.begin(), windows.end(),
      [](const LoadWindow& left, const LoadWindow& right) { return left.InFlight < right.InFlight; });
  return most->InFlight > 1.4 * least->InFlight ? 1 : 0.8;
}

}  // namespace

InvertedLoad InvertLoad(const LoadCurve& curve, const std::vector<LoadWindow>& windows)
{
  InvertedLoad result;
  if (!curve.Rate || !std::isfinite(curve.Noise + curve.Residual) || !std::isfinite(curve.Most)) {
    return result;
  }
  const std::vector<Candidate> candidates = Candidates(curve.Most);
  std::vector<LoadWindow> used;
  std::vector<double> squares;
  for (auto window = windows.rbegin(); window != windows.rend() && used.size() < MostWindows; ++window) {
    if (!Sensible(*window)) {
      continue;
    }
    used.push_back(*window);
    const std::vector<double> longer = Squares(curve, used, candidates);
    if (!Explained(LeastOf(longer), used.size())) {
      used.pop_back();
      break;
    }
    squares = longer;
  }
  if (used.empty()) {
    return result;
  }
  const std::vector<double> weights = Likelihoods(candidates, squares, used.size());
  result.Fits = true;
  result.Windows = static_cast<int>(used.size());
  result.Load = Quantile(candidates, weights, 0.5);
  result.Least = Quantile(candidates, weights, 0.05);
  result.Most = Quantile(candidates, weights, 0.95);
  result.Sureness = CrossCheck(used) * std::max(0.0, 2 * Probability(candidates, weights, result.Load) - 1);
  return result;
}

}  // namespace patchio
