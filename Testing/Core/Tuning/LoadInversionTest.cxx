#include "Tuning/LoadSense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace patchio {
namespace {

/// The law of the emulated storage (Testing/Emulator/README.md): proportional to N up to N*, then
/// falling.
LoadCurve Kinked(double best, double contention = 0.5)
{
  LoadCurve curve;
  curve.Rate = [=](double n) { return 45e6 * (n <= best ? n : best * std::pow(best / n, contention)); };
  curve.Most = 128;
  curve.Best = best;
  curve.Residual = curve.Noise = 0.03;
  return curve;
}

/// The Universal Scalability Law.
LoadCurve Scalability(double sigma, double kappa)
{
  LoadCurve curve;
  curve.Rate = [=](double n) { return 100e6 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)); };
  curve.Most = 128;
  curve.Best = std::sqrt((1 - sigma) / kappa);
  curve.Residual = curve.Noise = 0.03;
  return curve;
}

/// Returns the rate of N own requests together with C requests of others if all get equal shares.
double Share(const LoadCurve& curve, double own, double others)
{
  return own / (own + others) * curve.Rate(own + others);
}

bool Near(double load, double truth)
{
  return std::abs(load - truth) <= std::max(2.0, 0.25 * truth);
}

/// Returns windows with noise of 3 % each, from a storage that deviates by 3 % (standard deviation) from its
/// curve.
std::vector<LoadWindow> NoisyWindows(
    const LoadCurve& curve, const std::vector<double>& own, double others, std::mt19937& random)
{
  std::normal_distribution<double> error(0, 0.03);
  const double today = std::exp(error(random));
  std::vector<LoadWindow> windows;
  for (const double n : own) {
    windows.push_back({n, Share(curve, n, others) * today * std::exp(error(random))});
  }
  return windows;
}

struct Case
{
  std::string Name;
  LoadCurve Curve;
};

class LoadInversion : public ::testing::TestWithParam<Case>
{
};

constexpr int Seeds = 60;

}  // namespace

TEST_P(LoadInversion, IsExactWithoutNoise)
{
  const LoadCurve& curve = this->GetParam().Curve;
  for (const double others : {0.0, 1.0, 4.0, 16.0, 50.0, 200.0}) {
    std::vector<LoadWindow> windows;
    for (const double part : {1.0, 2.0, 1.5}) {
      windows.push_back({part * curve.Best, Share(curve, part * curve.Best, others)});
    }
    const InvertedLoad found = InvertLoad(curve, windows);
    EXPECT_TRUE(found.Fits);
    EXPECT_EQ(found.Windows, 3);
    EXPECT_TRUE(Near(found.Load, others)) << found.Load << " for " << others;
    EXPECT_LE(found.Least, found.Load);
    EXPECT_GE(found.Most, found.Load);
  }
}

TEST_P(LoadInversion, FindsTheLoadFromWindowsOfSeveralN)
{
  const LoadCurve& curve = this->GetParam().Curve;
  const double best = std::round(curve.Best);
  for (const double others : {0.0, 4.0, 16.0, 40.0}) {
    int right = 0;
    for (int seed = 0; seed < Seeds; ++seed) {
      std::mt19937 random(seed);
      const auto windows =
          NoisyWindows(curve, {best / 2, best, 2 * best, best / 2, best, 2 * best}, others, random);
      right += Near(InvertLoad(curve, windows).Load, others);
    }
    // Where the curve hardly depends on two more requests, 3 % of noise hide them.
    const double change =
        1 - Share(curve, best, others + std::max(2.0, 0.25 * others)) / Share(curve, best, others);
    EXPECT_GE(right, (change > 0.06 ? 0.95 : 0.6) * Seeds) << others << " others, change " << change;
  }
}

TEST_P(LoadInversion, IsAsRightAsItIsSure)
{
  const LoadCurve& curve = this->GetParam().Curve;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  int sure = 0, sureAndRight = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double most = std::log(3 * curve.Best);
    const double own = std::exp(uniform(random) * most);
    const double others = uniform(random) < 0.3 ? 0 : std::exp(uniform(random) * most);
    const InvertedLoad found = InvertLoad(curve, NoisyWindows(curve, {own, own, own}, others, random));
    if (found.Confidence > 0.5) {
      ++sure;
      sureAndRight += Near(found.Load, others);
    }
  }
  // Confidence 0.5 means that three of four estimates are right, and most estimates have a greater sureness.
  EXPECT_GE(sure, 100);
  EXPECT_GE(sureAndRight, 0.85 * sure) << sureAndRight << " of " << sure;
}

INSTANTIATE_TEST_SUITE_P(Curves, LoadInversion,
    ::testing::Values(Case{"Kinked4", Kinked(4)}, Case{"Kinked16", Kinked(16)}, Case{"Kinked64", Kinked(64)},
        Case{"Kinked16Flat", Kinked(16, 0)}, Case{"Scalability", Scalability(0.02, 0.002)},
        Case{"ScalabilityEarly", Scalability(0.1, 0.01)},
        Case{"ScalabilityLate", Scalability(0.005, 0.0003)}),
    [](const auto& info) { return info.param.Name; });

TEST(LoadInversionLimits, SaysLittleWhereTheLoadMakesNoDifference)
{
  // Up to N* = 64, requests do not hinder each other.
  const LoadCurve curve = Kinked(64);
  for (const double others : {0.0, 4.0, 16.0, 40.0}) {
    const InvertedLoad found =
        InvertLoad(curve, {{4, Share(curve, 4, others)}, {8, Share(curve, 8, others)}});
    EXPECT_TRUE(found.Fits);
    EXPECT_LT(found.Confidence, 0.2) << others;
    EXPECT_LT(found.Least, 4);
    EXPECT_GT(found.Most, 40);
  }
}

TEST(LoadInversionLimits, IsLessSureWithOneNOrMoreNoise)
{
  LoadCurve curve = Kinked(16);
  const LoadWindow first{16, Share(curve, 16, 8)}, second{32, Share(curve, 32, 8)};
  const double both = InvertLoad(curve, {first, second}).Confidence;
  EXPECT_GT(both, 0.8);
  EXPECT_LT(InvertLoad(curve, {first}).Confidence, 0.81);
  curve.Noise = curve.Residual = 0.4;
  EXPECT_LT(InvertLoad(curve, {first, second}).Confidence, 0.5 * both);
}

TEST(LoadInversionLimits, ForgetsWindowsFromBeforeAChange)
{
  const LoadCurve curve = Kinked(16);
  const std::vector<LoadWindow> windows{{16, Share(curve, 16, 0)}, {32, Share(curve, 32, 0)},
      {16, Share(curve, 16, 0)}, {16, Share(curve, 16, 16)}, {32, Share(curve, 32, 16)}};
  const InvertedLoad found = InvertLoad(curve, windows);
  EXPECT_EQ(found.Windows, 2);
  EXPECT_NEAR(found.Load, 16, 2);
}

TEST(LoadInversionLimits, RefusesRatesThatNoLoadExplains)
{
  const LoadCurve curve = Kinked(16);
  EXPECT_TRUE(InvertLoad(curve, {{16, 1.1 * curve.Rate(16)}}).Fits);
  const InvertedLoad found = InvertLoad(curve, {{16, 1.6 * curve.Rate(16)}});
  EXPECT_FALSE(found.Fits);
  EXPECT_EQ(found.Load, 0);
  EXPECT_EQ(found.Confidence, 0);
}

TEST(LoadInversionLimits, DoesNotTakeASlowerStorageForALoadedOne)
{
  // The storage is three times as slow at each N. A load would slow down small N more than large ones.
  const LoadCurve curve = Kinked(16);
  std::vector<LoadWindow> windows;
  for (const double own : {2, 8, 32, 64, 2, 8, 32, 64}) {
    windows.push_back({own, curve.Rate(own) / 3});
  }
  EXPECT_LT(InvertLoad(curve, windows).Windows, 4);
}

TEST(LoadInversionLimits, EndsOnNonsense)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(InvertLoad({}, {{16, 1e8}}).Fits);
  EXPECT_FALSE(InvertLoad(Kinked(16), {}).Fits);
  for (const LoadWindow& window : {LoadWindow{0, 1e8}, {16, 0}, {-1, 1e8}, {nan, 1e8}, {16, nan},
           {infinity, 1e8}, {16, infinity}, {1e300, 1e300}, {1e-300, 1e-300}}) {
    const InvertedLoad found = InvertLoad(Kinked(16), {window});
    EXPECT_TRUE(std::isfinite(found.Load + found.Least + found.Most));
    EXPECT_TRUE(found.Confidence >= 0 && found.Confidence <= 1);
  }
  for (const double value : {0.0, -5.0, nan, infinity}) {
    LoadCurve curve = Kinked(16);
    curve.Rate = [=](double) { return value; };
    EXPECT_FALSE(InvertLoad(curve, {{16, 1e8}}).Fits);
    curve = Kinked(16);
    curve.Noise = value;
    curve.Residual = value;
    curve.Most = value;
    const InvertedLoad found = InvertLoad(curve, {{16, 1e8}});
    EXPECT_TRUE(found.Confidence >= 0 && found.Confidence <= 1);
  }
  // Invalid windows must not affect the others.
  const LoadCurve curve = Kinked(16);
  EXPECT_NEAR(InvertLoad(curve, {{16, nan}, {16, Share(curve, 16, 16)}, {0, 0}}).Load, 16, 2);
}

}  // namespace patchio
