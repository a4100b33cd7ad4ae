#include "Tuning/AutomaticThreads.h"

#include "TestTools.h"
#include "Tuning/StorageProfile.h"

#include <cmath>
#include <utility>

namespace patchio {
namespace {

using ::testing::IsEmpty;

const LoadEstimate NobodyKnows{0, 0, "nothing here says who else reads"};
const LoadEstimate Nobody{0.3, 0.8, "load 0 to 1"};
const LoadEstimate Six{6, 0.7, "load 4 to 8"};

TEST(UnloadedRates, AreTheMeansOfTheWindowsOfEachNumber)
{
  UnloadedRates rates;
  for (const auto& [threads, rate] : {std::pair{8, 100e6}, {16, 180e6}, {8, 120e6}}) {
    rates.Add(threads, rate, Nobody, 0);
  }
  const std::vector<RateSample> samples = rates.Samples(true);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].Concurrency, 8);
  EXPECT_DOUBLE_EQ(samples[0].Rate, 110e6);
  EXPECT_EQ(samples[1].Concurrency, 16);
  EXPECT_DOUBLE_EQ(samples[1].Rate, 180e6);
}

TEST(UnloadedRates, AreNoneWhereOthersReadAtAnyTime)
{
  UnloadedRates rates;
  rates.Add(16, 180e6, Nobody, 0);
  rates.Add(16, 120e6, Six, 0);
  rates.Add(16, 180e6, Nobody, 0);
  EXPECT_THAT(rates.Samples(true), IsEmpty());
  EXPECT_THAT(rates.Samples(false), IsEmpty());
}

TEST(UnloadedRates, AreNoneWhereNobodyKnowsThoughARateCouldTell)
{
  UnloadedRates rates;
  rates.Add(16, 180e6, NobodyKnows, 0);
  EXPECT_THAT(rates.Samples(true), IsEmpty());
  EXPECT_EQ(rates.Samples(false).size(), 1u);
  rates.Add(16, 180e6, Nobody, 0);
  EXPECT_EQ(rates.Samples(true).size(), 1u) << "clear once";
}

TEST(UnloadedRates, EndWithTheFirstChangeOfTheStorage)
{
  UnloadedRates rates;
  rates.Add(16, 180e6, Nobody, 3);
  rates.Add(16, 90e6, NobodyKnows, 4);
  const std::vector<RateSample> samples = rates.Samples(true);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_DOUBLE_EQ(samples[0].Rate, 180e6);
}

/// A storage with N* = 16, and 12 to 20 own reads, with 6 reads of others or with none.
class ProfileOfAnIdleStorage : public ::testing::Test
{
protected:
  static double RateAt(double n) { return n <= 16 ? 2.5e6 * n : 40e6 * std::sqrt(16 / n); }
  void SetUp() override
  {
    for (int pass = 0; pass < 2; ++pass) {
      for (int n = 1; n <= 128; n *= 2) {
        this->Profile.Samples.push_back({n, RateAt(n) * (1 + 0.02 * pass), pass});
      }
    }
    this->Profile.Source = MeasuredSource;
    this->Profile.Fit = FitRates(this->Profile.Samples);
    this->Profile.Concurrency = this->Profile.Fit.Best();
  }
  /// Makes the sensor's estimate agree with the rates.
  void Read(double others)
  {
    Mount mount;
    mount.Type = "fuse";
    LoadSensor sensor(mount, CurveOf(this->Profile));
    UnloadedRates rates;
    sensor.Sample(OwnReads(), 0);
    double now = 0;
    for (const int threads : {16, 16, 16, 20, 20, 12, 12, 16}) {
      const double rate = threads / (threads + others) * RateAt(threads + others);
      OwnReads own;
      own.AllRanks.InFlight = threads;
      own.AllRanks.Bytes = static_cast<std::uint64_t>(rate);
      rates.Add(threads, rate, sensor.Sample(own, ++now), 0);
    }
    MergeSamples(this->Profile, rates.Samples(this->Profile.Fit.Known()));
  }
  StorageProfile Profile;
};

TEST_F(ProfileOfAnIdleStorage, IsNotSpoiltByOthers)
{
  const double before = this->Profile.Fit.At(16);
  const std::size_t samples = this->Profile.Samples.size();
  for (int read = 0; read < 6; ++read) {
    this->Read(6);
  }
  EXPECT_DOUBLE_EQ(this->Profile.Fit.At(16), before);
  EXPECT_EQ(this->Profile.Samples.size(), samples);
}

TEST_F(ProfileOfAnIdleStorage, IsRefinedWhereThereAreNone)
{
  const std::size_t samples = this->Profile.Samples.size();
  this->Read(0);
  EXPECT_GT(this->Profile.Samples.size(), samples);
  EXPECT_NEAR(this->Profile.Fit.At(16) / 40e6, 1, 0.05);
}

}  // namespace
}  // namespace patchio
