#include "Storage/ThreadPolicy.h"

#include "TestTools.h"

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
  EXPECT_EQ(ControllerFor(Parallel(32, 10), ThreadPolicy::Balanced, FourRanks).Start, 32);
  EXPECT_EQ(ControllerFor(Parallel(32, 10), ThreadPolicy::Polite, FourRanks).Start, 22);
  EXPECT_EQ(ControllerFor(Parallel(1, 0), ThreadPolicy::Balanced, FourRanks).Start, 4)
      << "one a rank at least";
  EXPECT_EQ(ControllerFor(Parallel(9999, 0), ThreadPolicy::Greedy, FourRanks).Start, 256);
}

TEST(ThreadPolicy, GuessesWhereNobodyHasMeasured)
{
  EXPECT_EQ(GuessedConcurrency(MountClass::LocalDisk, 2), 8);
  EXPECT_EQ(GuessedConcurrency(MountClass::LocalDisk, 64), 32);
  EXPECT_EQ(GuessedConcurrency(MountClass::Memory, 2), 4);
  EXPECT_EQ(GuessedConcurrency(MountClass::Memory, 12), 12);
  EXPECT_EQ(GuessedConcurrency(MountClass::Parallel, 12), 16);
  EXPECT_EQ(ControllerFor(Parallel(0, 0), ThreadPolicy::Balanced, FourRanks).Start, 16);
}

TEST(ThreadPolicy, KeepsBoundsInOrder)
{
  for (const int concurrency : {0, 1, 7, 32, 100000}) {
    for (const double load : {0.0, 3.5, 1e9}) {
      for (const ThreadPolicy policy : {ThreadPolicy::Polite, ThreadPolicy::Balanced, ThreadPolicy::Greedy}) {
        for (const ReadingJob& job : {ReadingJob{1, 1, 1}, FourRanks, ReadingJob{1000, 64, 1}}) {
          const ControllerOptions options = ControllerFor(Parallel(concurrency, load), policy, job);
          EXPECT_EQ(options.Granularity, job.Ranks);
          EXPECT_GE(options.Least, job.Ranks);
          EXPECT_LE(options.Least, options.Start);
          EXPECT_LE(options.Start, options.Most);
          EXPECT_LE(options.Most, job.Ranks * job.MostOfRank);
        }
      }
    }
  }
}

}  // namespace
}  // namespace patchio
