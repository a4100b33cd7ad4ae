#include "Tuning/ThreadPolicy.h"

#include "TestTools.h"

#include <cmath>

namespace patchio {
namespace {

const ReadingJob FourRanks{4, 8, 64};

StorageKnowledge Parallel(int concurrency, double load)
{
  return {concurrency, load, MountClass::Parallel};
}

TEST(ThreadPolicy, PoliteLeavesOthersWhatTheyHave)
{
  EXPECT_EQ(MostInFlight(Parallel(32, 0), ThreadPolicy::Polite, FourRanks), 32);
  EXPECT_EQ(MostInFlight(Parallel(32, 10), ThreadPolicy::Polite, FourRanks), 22);
  EXPECT_EQ(MostInFlight(Parallel(32, 30), ThreadPolicy::Polite, FourRanks), 4) << "one a rank at least";
  EXPECT_EQ(MostInFlight(Parallel(32, 100), ThreadPolicy::Polite, FourRanks), 4);
  EXPECT_EQ(MostInFlight(Parallel(100000, 0), ThreadPolicy::Polite, FourRanks), 256)
      << "all that ranks can have";
}

TEST(ThreadPolicy, OthersTakeAllThatRanksCanHave)
{
  for (const ThreadPolicy policy : {ThreadPolicy::Balanced, ThreadPolicy::Greedy}) {
    EXPECT_EQ(MostInFlight(Parallel(32, 30), policy, FourRanks), 256);
  }
  EXPECT_EQ(MostInFlight(Parallel(0, 0), ThreadPolicy::Polite, FourRanks), 256) << "N* is not known";
}

TEST(ThreadPolicy, BeginsWithTheStoragesBest)
{
  EXPECT_EQ(ControllerOptionsFor(Parallel(32, 10), ThreadPolicy::Balanced, FourRanks).Start, 32);
  EXPECT_EQ(ControllerOptionsFor(Parallel(32, 10), ThreadPolicy::Polite, FourRanks).Start, 22);
  EXPECT_EQ(ControllerOptionsFor(Parallel(1, 0), ThreadPolicy::Balanced, FourRanks).Start, 4)
      << "one a rank at least";
  EXPECT_EQ(ControllerOptionsFor(Parallel(9999, 0), ThreadPolicy::Greedy, FourRanks).Start, 256);
}

/// Returns a fit that is proportional to N up to 16, and falls with the square root of N beyond.
RateFit FitOfSixteen()
{
  std::vector<RateSample> samples;
  for (int n = 1; n <= 128; n *= 2) {
    samples.push_back({n, n <= 16 ? 40e6 * n : 640e6 * std::sqrt(16.0 / n), 0});
    samples.push_back({n, 1.01 * samples.back().Rate, 1});
  }
  return FitRates(samples);
}

TEST(ThreadPolicy, BeginsWithAFairShareOfWhatIsKnown)
{
  const RateFit fit = FitOfSixteen();
  // Calculated by hand: with C requests of others, N / (N + C) F(N + C) is greatest at N = max(16 - C, 2 C).
  EXPECT_NEAR(FewestReads(fit, 6, 128, 1), 12, 2);
  EXPECT_NEAR(FewestReads(fit, 20, 128, 1), 40, 6);
  EXPECT_EQ(FewestReads(RateFit(), 6, 128, 1), 0);
  for (const double load : {0.0, 2.0, 6.0, 20.0, 1000.0}) {
    StorageKnowledge storage = Parallel(fit.Best(), load);
    SetInitialReads(storage, fit);
    const int balanced = ControllerOptionsFor(storage, ThreadPolicy::Balanced, FourRanks).Start;
    const int greedy = ControllerOptionsFor(storage, ThreadPolicy::Greedy, FourRanks).Start;
    EXPECT_LE(balanced, fit.Best()) << load;
    EXPECT_LE(balanced, greedy) << load;
    const auto own = [&](double n) { return n / (n + load) * fit.At(n + load); };
    for (int n = 1; n <= fit.Most(); ++n) {
      EXPECT_GE(own(greedy), 0.994 * own(n)) << "Greedy begins with less than the best rate beside " << load;
    }
  }
}

TEST(ThreadPolicy, BeginsBalancedWithTheBestOfAllWhenAlone)
{
  const RateFit fit = FitOfSixteen();
  StorageKnowledge storage = Parallel(fit.Best(), 0);
  SetInitialReads(storage, fit);
  EXPECT_EQ(ControllerOptionsFor(storage, ThreadPolicy::Balanced, FourRanks).Start, fit.Best());
  storage = Parallel(fit.Best(), 20);
  SetInitialReads(storage, fit);
  EXPECT_GT(ControllerOptionsFor(storage, ThreadPolicy::Greedy, FourRanks).Start, fit.Best());
  EXPECT_EQ(ControllerOptionsFor(storage, ThreadPolicy::Polite, FourRanks).Start, 4) << "one a rank";
}

TEST(ThreadPolicy, GuessesWhereNobodyHasMeasured)
{
  EXPECT_EQ(GuessConcurrency(MountClass::LocalDisk, 2), 8);
  EXPECT_EQ(GuessConcurrency(MountClass::LocalDisk, 64), 32);
  EXPECT_EQ(GuessConcurrency(MountClass::Memory, 2), 4);
  EXPECT_EQ(GuessConcurrency(MountClass::Memory, 12), 12);
  EXPECT_EQ(GuessConcurrency(MountClass::Parallel, 12), 16);
  EXPECT_EQ(ControllerOptionsFor(Parallel(0, 0), ThreadPolicy::Balanced, FourRanks).Start, 16);
}

TEST(ThreadPolicy, KeepsBoundsInOrder)
{
  for (const int concurrency : {0, 1, 7, 32, 100000}) {
    for (const double load : {0.0, 3.5, 1e9}) {
      for (const ThreadPolicy policy : {ThreadPolicy::Polite, ThreadPolicy::Balanced, ThreadPolicy::Greedy}) {
        for (const ReadingJob& job : {ReadingJob{1, 1, 1}, FourRanks, ReadingJob{1000, 64, 1}}) {
          const ControllerOptions options = ControllerOptionsFor(Parallel(concurrency, load), policy, job);
          EXPECT_EQ(options.Granularity, job.RankCount);
          EXPECT_GE(options.Least, job.RankCount);
          EXPECT_LE(options.Least, options.Start);
          EXPECT_LE(options.Start, options.Most);
          EXPECT_LE(options.Most, job.RankCount * job.MostThreadsOfRank);
        }
      }
    }
  }
}

}  // namespace
}  // namespace patchio
