#include "Probe/QuickProbe.h"

#include "Base/Bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace patchio::probe {
namespace {

/// Returns `repeats` requests of each size 4 KiB, 16 KiB .. 16 MiB, with relative noise.
std::vector<RequestTime> Timed(const StorageModel& truth, double noise, unsigned seed, int repeats = 9)
{
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<RequestTime> times;
  for (std::uint64_t bytes = 4 * KiB; bytes <= 16 * MiB; bytes *= 4) {
    for (int i = 0; i < repeats; ++i) {
      const double seconds = truth.Latency + static_cast<double>(bytes) / truth.Bandwidth;
      times.push_back({bytes, seconds * std::exp(noise * normal(random))});
    }
  }
  return times;
}

TEST(RequestCost, IsExactWithoutNoise)
{
  for (const StorageModel& truth :
      {StorageModel{2e-3, 50e6}, StorageModel{20e-6, 2e9}, StorageModel{0, 1e8}}) {
    const RequestCost cost = FitRequestCost(Timed(truth, 0, 1, 1));
    EXPECT_TRUE(cost.Known);
    EXPECT_NEAR(cost.Requests.Latency, truth.Latency, 1e-9);
    EXPECT_NEAR(cost.Requests.Bandwidth / truth.Bandwidth, 1, 1e-6);
    EXPECT_LT(cost.Residual, 1e-6);
  }
}

TEST(RequestCost, BearsNoiseAndStragglers)
{
  const StorageModel truth{2e-3, 50e6};
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::vector<RequestTime> times = Timed(truth, 0.1, seed);
    for (std::size_t i = seed % 4; i < times.size(); i += 4) {
      times[i].Seconds *= 10;  // a quarter of the requests is delayed
    }
    for (RequestTime& time : times) {
      time.Seconds *= time.Bytes == 64 * KiB ? 3 : 1;  // a size that is slow on this storage
    }
    const RequestCost cost = FitRequestCost(times);
    EXPECT_NEAR(cost.Requests.Latency / truth.Latency, 1, 0.3) << seed;
    EXPECT_NEAR(cost.Requests.Bandwidth / truth.Bandwidth, 1, 0.3) << seed;
  }
}

TEST(RequestCost, GivesBlocksThatSpendNineTenthsOfTheirTimeOnBytes)
{
  for (const StorageModel& requests : {StorageModel{2e-3, 50e6}, StorageModel{10e-3, 200e6}}) {
    const auto bytes = static_cast<double>(BlockBytesFor(requests));
    const double onBytes = bytes / requests.Bandwidth;
    EXPECT_NEAR(onBytes / (onBytes + requests.Latency), 0.9, 0.005);
  }
  EXPECT_EQ(BlockBytesFor({20e-6, 2e9}), 384 * KiB);  // 360,000 bytes
}

TEST(RequestCost, KeepsBlocksWithinTheirLimits)
{
  EXPECT_EQ(BlockBytesFor({0, 1e9}), 64 * KiB);
  EXPECT_EQ(BlockBytesFor({1e-9, 1e6}), 64 * KiB);
  EXPECT_EQ(BlockBytesFor({1, 1e9}), 64 * MiB);
  EXPECT_EQ(BlockBytesFor({1e300, 1e300}), 64 * MiB);
}

TEST(RequestCost, HasNoNegativeLatency)
{
  // Small requests are relatively faster than large ones.
  const RequestCost cost = FitRequestCost({{4 * KiB, 1e-6}, {64 * KiB, 100e-6}, {MiB, 2000e-6}});
  EXPECT_TRUE(cost.Known);
  EXPECT_GE(cost.Requests.Latency, 0);
  EXPECT_GT(cost.Requests.Bandwidth, 0);
}

TEST(RequestCost, GoesToLargeBlocksWhereTheSizeDoesNotMatter)
{
  const RequestCost cost = FitRequestCost({{4 * KiB, 5e-3}, {64 * KiB, 5e-3}, {MiB, 4.9e-3}});
  EXPECT_TRUE(cost.Known);
  EXPECT_NEAR(cost.Requests.Latency, 5e-3, 2e-4);
  EXPECT_TRUE(std::isfinite(cost.Requests.Bandwidth));
  EXPECT_EQ(cost.BlockBytes, 64 * MiB);
}

TEST(RequestCost, KnowsNothingFromOneSize)
{
  EXPECT_FALSE(FitRequestCost({}).Known);
  EXPECT_FALSE(FitRequestCost({{MiB, 1e-3}, {MiB, 2e-3}}).Known);
  EXPECT_FALSE(FitRequestCost({{MiB, 1e-3}, {MiB + 1, 2e-3}}).Known);
  EXPECT_EQ(FitRequestCost({}).Requests.Bandwidth, StorageModel().Bandwidth);
  EXPECT_GE(FitRequestCost({}).BlockBytes, LeastBlockBytes);
}

TEST(RequestCost, PassesOverWhatIsNoTime)
{
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<RequestTime> times = Timed({2e-3, 50e6}, 0, 1);
  times.insert(times.end(), {{0, 1}, {MiB, 0}, {MiB, -1}, {MiB, std::nan("")}, {MiB, infinite}});
  EXPECT_NEAR(FitRequestCost(times).Requests.Latency, 2e-3, 1e-9);
}

}  // namespace
}  // namespace patchio::probe
