#include "Tuning/RateFit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace patchio {
namespace {

using Law = std::function<double(double)>;

const std::vector<int> Powers{1, 2, 4, 8, 16, 32, 64, 128};

/// Returns two passes over the powers of two, with noise of this relative size.
std::vector<RateSample> Sampled(const Law& law, double noise, unsigned seed)
{
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<RateSample> samples;
  for (int pass = 0; pass < 2; ++pass) {
    for (const int n : Powers) {
      samples.push_back({n, law(n) * std::exp(noise * normal(random)), pass});
    }
  }
  return samples;
}

/// The law of the emulated storage, see Testing/Emulator: linear up to N* or to the total rate, and
/// falling past N*.
Law Emulated(double best, double fall = 0.5, double total = 1e18)
{
  return [=](double n) {
    const double one = 40e6;
    return n <= best ? std::min(n * one, total) : std::min(best * one, total) * std::pow(best / n, fall);
  };
}

Law Scalability(double sigma, double kappa)
{
  return [=](double n) { return 50e6 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)); };
}

/// Returns N* by its definition.
int BestOf(const Law& law)
{
  double greatest = 0;
  for (int n = 1; n <= 128; ++n) {
    greatest = std::max(greatest, law(n));
  }
  int n = 1;
  while (law(n) < 0.98 * greatest) {
    ++n;
  }
  return n;
}

struct Outcome
{
  int Wrong = 0;         ///< seeds with N* outside 0.7 .. 1.4 of the truth
  double LeastRate = 1;  ///< F at the N* found over the greatest F
};

Outcome FitMany(const Law& law, double noise, int seeds)
{
  Outcome outcome;
  const int best = BestOf(law);
  for (int seed = 0; seed < seeds; ++seed) {
    const RateFit fit = FitRates(Sampled(law, noise, seed));
    const double ratio = static_cast<double>(fit.Best()) / best;
    outcome.Wrong += ratio < 0.7 || ratio > 1.4 ? 1 : 0;
    outcome.LeastRate = std::min(outcome.LeastRate, law(fit.Best()) * 0.98 / law(best));
  }
  return outcome;
}

constexpr int Seeds = 100;

TEST(RateFit, FindsTheBestConcurrency)
{
  struct Case
  {
    std::string Name;
    Law RateOf;
    double Noise;
    double LeastRate;  ///< of the greatest rate
    bool HasPeak = true;
  };
  std::vector<Case> cases{{"steep fall", Emulated(16, 1), 0.03, 0}, {"flat fall", Emulated(16, 0.2), 0.03, 0},
      // Eight requests reach the total rate of the storage, which falls above 32 requests.
      {"capped", Emulated(32, 0.5, 8 * 40e6), 0.03, 0.9},
      {"straight", [](double n) { return 10e6 * n; }, 0.04, 0.95},
      {"root", [](double n) { return 10e6 * std::sqrt(n); }, 0.04, 0},
      {"falling", [](double n) { return 1e9 * std::pow(n, -0.4); }, 0.04, 0},
      // N* is ill-defined here, but only the rate matters.
      {"saturating early", Scalability(0.65, 0), 0.04, 0.92, false},
      {"saturating late", Scalability(0.1, 0), 0.04, 0.92, false}};
  for (const int best : {4, 16, 64}) {
    for (const double noise : {0.0, 0.02, 0.05}) {
      cases.push_back({"peak at " + std::to_string(best), Emulated(best), noise, 0.75});
    }
  }
  for (const int best : {6, 12, 23, 48}) {  // between the sampled concurrencies
    cases.push_back({"peak at " + std::to_string(best), Emulated(best), 0.03, 0});
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.Name + " with noise " + std::to_string(c.Noise));
    const Outcome outcome = FitMany(c.RateOf, c.Noise, c.Noise > 0 ? Seeds : 1);
    EXPECT_TRUE(outcome.Wrong == 0 || !c.HasPeak) << outcome.Wrong << " of " << Seeds;
    EXPECT_GT(outcome.LeastRate, c.LeastRate);
  }
}

TEST(RateFit, RecoversTheUniversalScalabilityLaw)
{
  struct Case
  {
    double Sigma, Kappa;
  };
  for (const Case& c : {Case{0.05, 0.001}, Case{0.02, 0.004}, Case{0, 0.0002}, Case{0.1, 0.01}}) {
    const RateFit fit = FitRates(Sampled(Scalability(c.Sigma, c.Kappa), 0, 1));
    ASSERT_EQ(fit.Law(), RateLaw::BrokenPowerLaw);
    EXPECT_NEAR(fit.Best(), BestOf(Scalability(c.Sigma, c.Kappa)), 1);
    EXPECT_LE(FitMany(Scalability(c.Sigma, c.Kappa), 0.03, Seeds).Wrong, Seeds / 50) << c.Sigma;
  }
}

TEST(RateFit, AsksForFewThreadsWhereTheyDoNotMatter)
{
  // The page cache: the rate is the same for all N, or for all N from two on.
  int many = 0;
  for (int seed = 0; seed < Seeds; ++seed) {
    many += FitRates(Sampled([](double) { return 5e9; }, 0.05, seed)).Best() > 2;
    many += FitRates(Sampled([](double n) { return 5e9 * std::min(n, 2.0); }, 0.05, seed)).Best() > 3;
  }
  EXPECT_LE(many, Seeds / 20);
}

TEST(RateFit, EqualsTheLawItWasSampledFrom)
{
  for (const Law& law : {Emulated(16), Emulated(32, 0.5, 8 * 40e6), Scalability(0.05, 0.001),
           Scalability(0.02, 0.004), Scalability(0, 0.0002), Scalability(0.1, 0.01),
           Law([](double) { return 3e8; }), Law([](double n) { return 1e7 * std::sqrt(n); })}) {
    const RateFit fit = FitRates(Sampled(law, 0, 1));
    for (int n = 1; n <= 128; ++n) {
      EXPECT_NEAR(fit.At(n) / law(n), 1, 0.02) << n << ": " << fit.Text();
    }
    EXPECT_LT(fit.Residual(), 0.01);
  }
}

TEST(RateFit, BearsDisturbedSamples)
{
  // Three passes; in each of them, other load halves the rate of one N.
  for (const int best : {4, 16, 64}) {
    for (int seed = 0; seed < Seeds; ++seed) {
      std::vector<RateSample> samples = Sampled(Emulated(best), 0.03, seed);
      const std::vector<RateSample> more = Sampled(Emulated(best), 0.03, seed + Seeds);
      samples.insert(samples.end(), more.begin(), more.begin() + Powers.size());
      for (std::size_t pass = 0; pass < 3; ++pass) {
        samples[pass * Powers.size() + (seed + 3 * pass) % Powers.size()].Rate *= 0.5;
      }
      const double ratio = static_cast<double>(FitRates(samples).Best()) / best;
      EXPECT_GE(ratio, 0.7) << best << " with seed " << seed;
      EXPECT_LE(ratio, 1.4) << best << " with seed " << seed;
    }
  }
}

TEST(RateFit, KnowsItsNoise)
{
  double sum = 0;
  for (int seed = 0; seed < Seeds; ++seed) {
    sum += FitRates(Sampled(Emulated(16), 0.05, seed)).Noise() / Seeds;
  }
  EXPECT_NEAR(sum, 0.05, 0.01);
}

TEST(RateFit, IsSensibleBeyondTheSamples)
{
  const RateFit peak = FitRates(Sampled(Emulated(16), 0, 1));
  EXPECT_NEAR(peak.At(0.25) / 10e6, 1, 0.01);
  EXPECT_NEAR(peak.At(512) / (16 * 40e6 * std::sqrt(16.0 / 512)), 1, 0.02);
  const RateFit rising = FitRates(Sampled([](double n) { return 10e6 * n; }, 0, 1));
  EXPECT_NEAR(rising.At(1024) / 1280e6, 1, 0.01);
  for (const Law& law : {Emulated(4), Scalability(0, 0.1), Law([](double n) { return 1e9 / (n * n); })}) {
    const RateFit fit = FitRates(Sampled(law, 0.05, 3));
    double last = fit.At(128);
    for (const double n : {1e-6, 0.5, 200.0, 1e4, 1e9}) {
      EXPECT_GT(fit.At(n), 0) << n;
      EXPECT_TRUE(std::isfinite(fit.At(n))) << n;
      if (n > 128) {
        EXPECT_LE(fit.At(n), last);
        EXPECT_GE(fit.At(n) * n, 0.99 * fit.At(128) * 128);
        last = fit.At(n);
      }
    }
  }
}

TEST(RateFit, KnowsNothingFromLessThanThreeConcurrencies)
{
  EXPECT_FALSE(FitRates({}).Known());
  EXPECT_FALSE(FitRates({{1, 1e6, 0}, {2, 2e6, 0}, {2, 2e6, 1}}).Known());
  EXPECT_TRUE(FitRates({{1, 1e6, 0}, {2, 2e6, 0}, {4, 3e6, 0}}).Known());
  EXPECT_EQ(RateFit().At(4), 0);
  EXPECT_EQ(RateFit().Best(), 1);
  EXPECT_EQ(RateFit().Text(), "unknown");
}

TEST(RateFit, TakesNoLawThatDoesNotFit)
{
  // One noisy pass of a file system in memory. The rate at 32 is four times the rate at 1, but a law with few
  // coefficients would be a constant.
  const std::vector<RateSample> rough{{1, 2.5e9, 0}, {2, 6.9e9, 0}, {4, 3.3e9, 0}, {8, 8.2e9, 0},
      {16, 4.1e9, 0}, {32, 9.9e9, 0}, {64, 6.0e9, 0}};
  const RateFit fit = FitRates(rough);
  EXPECT_EQ(fit.Law(), RateLaw::Interpolated);
  EXPECT_EQ(fit.Best(), 32) << fit.Text();
  EXPECT_GT(fit.Residual(), 0.15);
  EXPECT_THAT(fit.Coefficients(), ::testing::IsEmpty());
  EXPECT_THAT(fit.Text(), ::testing::HasSubstr("no law fits"));
  for (const RateSample& sample : rough) {
    EXPECT_NEAR(fit.At(sample.Concurrency) / sample.Rate, 1, 1e-9);
  }
  EXPECT_NEAR(fit.At(std::sqrt(32 * 64)) / std::sqrt(9.9e9 * 6.0e9), 1, 1e-9);
  // Too few for any law.
  EXPECT_EQ(FitRates({{1, 1e9, 0}, {2, 3e9, 0}, {4, 1.1e9, 0}, {8, 9e9, 0}, {16, 8.9e9, 0}}).Best(), 8);
}

TEST(RateFit, JoinsTheMeansOfSamplesThatNoLawFits)
{
  // A storage with a hole at 8 and a second peak, measured well: two passes that agree.
  const std::map<int, double> rates{
      {1, 1e8}, {2, 2e8}, {4, 1e8}, {8, 4.2e8}, {16, 1.1e8}, {32, 4.3e8}, {64, 1e8}, {128, 2e8}};
  std::vector<RateSample> samples;
  for (const auto& [n, rate] : rates) {
    samples.push_back({n, 0.98 * rate, 0});
    samples.push_back({n, 1.02 * rate, 1});
  }
  const RateFit fit = FitRates(samples);
  EXPECT_EQ(fit.Law(), RateLaw::Interpolated);
  EXPECT_EQ(fit.Best(), 32) << fit.Text();
  // Within 2 % of the best rate, the smaller N is chosen.
  samples.push_back({8, 1.02 * 4.25e8, 2});
  samples.push_back({8, 1.02 * 4.25e8, 3});
  EXPECT_EQ(FitRates(samples).Best(), 8);
}

TEST(RateFit, KnowsHowSureItsBestIs)
{
  int missed = 0;
  double sure = 0, unsure = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const ConcurrencyRange few = EstimateBestRange(Sampled(Emulated(16), 0.02, seed));
    EXPECT_LE(few.Least, few.Most);
    missed += few.Least <= 16 && 16 <= few.Most ? 0 : 1;
    sure += std::log(static_cast<double>(few.Most) / few.Least);
    const ConcurrencyRange many = EstimateBestRange(Sampled(Scalability(0.1, 0.0001), 0.08, seed));
    unsure += std::log(static_cast<double>(many.Most) / many.Least);
  }
  EXPECT_LE(missed, 5);
  EXPECT_GT(unsure, 2 * sure);
  EXPECT_EQ(EstimateBestRange({}).Most, 1);
}

TEST(RateFit, IsUnsureOfAConstantThatIsNoise)
{
  // Two measurements of each N, which differ only by noise.
  const auto flat = [](double noise) {
    std::vector<RateSample> samples;
    for (const int n : {1, 2, 4, 8, 16, 32, 64}) {
      samples.push_back({n, 1e9 * (1 + noise), 0});
      samples.push_back({n, 1e9 * (1 - noise), 1});
    }
    return samples;
  };
  for (const double noise : {0.001, 0.3}) {
    ASSERT_EQ(FitRates(flat(noise)).Law(), RateLaw::Constant);
    ASSERT_EQ(FitRates(flat(noise)).Best(), 1);
  }
  EXPECT_EQ(EstimateBestRange(flat(0.001)).Most, 1);
  EXPECT_GE(EstimateBestRange(flat(0.3)).Most, 32);
  // Measurements of a disk that other programs used: the law falls, although 2 requests in flight had the
  // best rate.
  std::vector<RateSample> disk;
  for (const auto& [n, rates] : std::map<int, std::vector<double>>{{1, {1.31, 0.81, 1.62, 2.15, 1.55}},
           {2, {2.2, 0.8, 2.28}}, {4, {1.23, 0.9, 1.08}}, {8, {1.3, 0.94, 0.97}}, {16, {0.98, 1.01}},
           {32, {1.11, 0.88, 1.07}}, {64, {1.15, 1.09}}, {128, {1.37}}}) {
    for (const double rate : rates) {
      disk.push_back({n, rate * 1e9, 0});
    }
  }
  ASSERT_EQ(FitRates(disk).Best(), 1) << FitRates(disk).Text();
  EXPECT_GE(EstimateBestRange(disk).Most, 2);
}

TEST(RateFit, HasNoNegativeZero)
{
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RateFit fit = FitRates(Sampled([](double n) { return 1e7 * std::sqrt(n); }, 0.01, seed));
    EXPECT_THAT(fit.Text(), ::testing::Not(::testing::HasSubstr("-0,"))) << fit.Text();
  }
}

TEST(RateFit, PassesOverWhatIsNoSample)
{
  std::vector<RateSample> samples = Sampled(Emulated(16), 0, 1);
  const double infinite = std::numeric_limits<double>::infinity();
  samples.insert(samples.end(), {{0, 1e9, 0}, {-4, 1e9, 0}, {8, 0, 0}, {8, -1, 0}, {8, std::nan(""), 0},
                                    {8, infinite, 0}, {MostConcurrency + 1, 1e9, 0}});
  const RateFit fit = FitRates(samples);
  EXPECT_EQ(fit.Best(), FitRates(Sampled(Emulated(16), 0, 1)).Best());
  EXPECT_EQ(fit.Most(), 128);
}

TEST(RateFit, BearsExtremeSamples)
{
  for (const std::vector<RateSample>& samples : {
           std::vector<RateSample>{{1, 1e-300, 0}, {2, 1e300, 0}, {4, 1e-300, 0}},
           std::vector<RateSample>{{1, 1e300, 0}, {1000, 1e300, 0}, {MostConcurrency, 1e300, 0}},
           std::vector<RateSample>{{5, 1, 0}, {6, 1e18, 0}, {7, 1, 1}, {7, 1e18, 1}},
       }) {
    const RateFit fit = FitRates(samples);
    EXPECT_GE(fit.Best(), samples.front().Concurrency);
    EXPECT_LE(fit.Best(), samples.back().Concurrency);
    EXPECT_TRUE(std::isfinite(fit.At(3))) << fit.Text();
  }
}

}  // namespace
}  // namespace patchio
