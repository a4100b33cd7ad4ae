#include "Tuning/AutomaticThreads.h"

#include "ReadForAWhile.h"
#include "TestTools.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fs = std::filesystem;

namespace patchio {
namespace {

/// Profiles and data are in a folder of this test only, because ctest runs several tests at the same time.
class AutomaticThreadsTest : public ::testing::Test
{
protected:
  void SetUp() override
  {
    fs::create_directories(this->Folder / "profiles");
    ::setenv("PATCHIO_PROFILE_DIR", (this->Folder / "profiles").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("PATCHIO_PROFILE_DIR"); }

  void WriteProfile(const std::string& text) const
  {
    std::ofstream(this->Folder / "profiles" / "by_hand.json") << text;
  }
  std::string MountPoint() const { return MountOf(this->Folder).value().Point; }

  const testing::TempFolder Scratch;
  const fs::path Folder = Scratch.Path();
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
};

TEST_F(AutomaticThreadsTest, BeginsWithAGuessWhereThereIsNoProfile)
{
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Concurrency, 0);
  const int guess = GuessConcurrency(
      automatic.Choice().Storage.Class, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(automatic.Control().Threads(), guess);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("N* unknown"));
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("Reads in flight: " + std::to_string(guess)));
  automatic.End();
}

TEST_F(AutomaticThreadsTest, BeginsWithTheProfilesNumber)
{
  this->WriteProfile("{\"mount\": \"" + this->MountPoint() + "\", \"best_concurrency\": 37}");
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Concurrency, 37);
  EXPECT_EQ(automatic.Control().Threads(), 37);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("N* = 37"));
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("by_hand.json"));
  automatic.End();
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 20);
  EXPECT_EQ(automatic.Control().Threads(), 20) << "no more than the rank can have";
  automatic.End();
}

TEST_F(AutomaticThreadsTest, TakesThreadsFromATable)
{
  this->WriteProfile(
      "{\"mount\": \"" + this->MountPoint() + "\", \"threads_of_ranks\": {\"1\": 11, \"4\": 5}}");
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Control().Threads(), 11);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("table of threads\n"));
  automatic.End();
}

TEST_F(AutomaticThreadsTest, SaysWhereATableEnds)
{
  StorageProfile profile;
  profile.Source = HandSource;
  profile.ThreadsOfRanks = {{1, 16}, {4, 8}};
  EXPECT_THAT(DescribeSource(profile, 4), ::testing::EndsWith("table of threads"));
  EXPECT_THAT(
      DescribeSource(profile, 100), ::testing::EndsWith("table of threads, beyond its end at 4 ranks"));
}

TEST_F(AutomaticThreadsTest, KeepsThreadsOfAReadThatEndsAtOnce)
{
  this->WriteProfile("{\"mount\": \"" + this->MountPoint() + "\", \"best_concurrency\": 9}");
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  automatic.End();
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("Reads in flight: 9\n"));
  EXPECT_FALSE(automatic.Choice().CostOfRequest.has_value())
      << "the profile does not say what a request costs";
}

TEST_F(AutomaticThreadsTest, SaysWhatIsWrongWithAProfile)
{
  this->WriteProfile("{\"mount\": ");
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Concurrency, 0);
  ASSERT_FALSE(automatic.Notes().empty());
  EXPECT_THAT(automatic.Notes()[0], ::testing::HasSubstr("by_hand.json"));
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("has no usable profile (see the notes)"));
  automatic.End();
}

TEST_F(AutomaticThreadsTest, FindsAProfileThatHasComeSince)
{
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Concurrency, 0);
  automatic.End();
  this->WriteProfile("{\"mount\": \"" + this->MountPoint() + "\", \"best_concurrency\": 37}");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Concurrency, 37);
  automatic.End();
}

TEST_F(AutomaticThreadsTest, FindsTheProfileOfAnotherFolderAtOnce)
{
  const fs::path inner = fs::canonical(this->Folder) / "inner";
  fs::create_directories(inner);
  this->WriteProfile("{\"storages\": {\"" + this->MountPoint() + "\": 5, \"" + inner.string() + "\": 9}}");
  AutomaticThreads automatic;
  for (const auto& [path, concurrency] : {std::pair(this->Folder, 5), {inner, 9}, {this->Folder, 5}}) {
    automatic.Begin(*this->Alone, path, ThreadPolicy::Balanced, 256);
    EXPECT_EQ(automatic.Choice().Storage.Concurrency, concurrency) << path;
    automatic.End();
  }
}

TEST_F(AutomaticThreadsTest, RepeatsWhatIsWrongWithAProfile)
{
  this->WriteProfile("{\"mount\": ");
  AutomaticThreads automatic;
  for (int read = 0; read < 3; ++read) {
    automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
    EXPECT_EQ(automatic.Notes().size(), 1u);
    automatic.End();
  }
}

/// A pause long enough for an estimate of the load of others.
constexpr std::chrono::milliseconds LongEnough(50);

TEST_F(AutomaticThreadsTest, AsksSeldomForTheLoadWhereReadsFollowEachOther)
{
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) { return LoadEstimate{1.0 * ++asked, 0.5, "somebody"}; };
  const Stopwatch watch;
  for (int read = 0; read < 1000; ++read) {
    automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
    automatic.End();
  }
  EXPECT_LE(asked, 4 + 20 * watch.Seconds()) << "after a read and before the next, every tenth of a second";
}

TEST_F(AutomaticThreadsTest, AsksForTheLoadOfEachPauseBetweenReads)
{
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) { return LoadEstimate{1.0 * ++asked, 0.5, "somebody"}; };
  for (int read = 0; read < 3; ++read) {
    automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
    EXPECT_EQ(automatic.Choice().Load.Load, 2 * read + 1);
    automatic.End();
    EXPECT_EQ(asked, 2 * read + 2) << "what is counted of the pause must not begin in the read";
    std::this_thread::sleep_for(3 * LongEnough);
  }
}

TEST_F(AutomaticThreadsTest, DoesNotTakeItsOwnReadsForThoseOfOthers)
{
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) { return LoadEstimate{1.0 * ++asked, 0.5, "somebody"}; };
  int askedBefore = 0;
  for (int read = 0; read < 2; ++read) {
    askedBefore = asked;
    automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
    automatic.End();
  }
  std::this_thread::sleep_for(5 * LongEnough);
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  if (asked == askedBefore + 1) {  // not asked after the second read, unless the machine was too slow
    EXPECT_EQ(automatic.Choice().Load.Confidence, 0);
    EXPECT_EQ(automatic.Choice().Storage.Load, 0);
  }
  automatic.End();
}

TEST_F(AutomaticThreadsTest, SaysNcAndItsReasonOfOneEstimate)
{
  this->WriteProfile("{\"mount\": \"" + this->MountPoint() + "\", \"best_concurrency\": 6}");
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) {
    ++asked;
    return LoadEstimate{static_cast<double>(asked), 0.5, fmt::format("estimate {}", asked)};
  };
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_EQ(automatic.Choice().Storage.Load, 1);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("NC = 1: estimate 1\n"));
  testing::ReadForAWhile(automatic, 1.8);
  automatic.End();
  ASSERT_GE(asked, 3) << "no window";
  const int last = asked - 1;  // but for that after the read
  EXPECT_EQ(automatic.Choice().Storage.Load, last);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr(fmt::format("NC = {0}: estimate {0}\n", last)));
}

TEST_F(AutomaticThreadsTest, SaysTheLoadThatWasKnownWhileItRead)
{
  this->WriteProfile("{\"mount\": \"" + this->MountPoint() + "\", \"best_concurrency\": 6}");
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) {
    return ++asked == 2 ? LoadEstimate{6, 0.5, "load 4 to 8"} : LoadEstimate{0, 0, "nobody knows"};
  };
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("NC unknown (counts as 0): nobody knows\n"));
  testing::ReadForAWhile(automatic, 1.8);
  automatic.End();
  EXPECT_EQ(automatic.Choice().Storage.Load, 6);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("NC = 6: load 4 to 8\n"));
  // A short read afterwards does not know this load.
  std::this_thread::sleep_for(LongEnough);
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  automatic.End();
  EXPECT_EQ(automatic.Choice().Storage.Load, 0);
  EXPECT_THAT(automatic.Text(), ::testing::HasSubstr("NC unknown (counts as 0): nobody knows\n"));
}

TEST_F(AutomaticThreadsTest, SaysOfAFirstReadThatItIsOne)
{
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, this->Folder, ThreadPolicy::Balanced, 256);
  EXPECT_THAT(automatic.Text(),
      ::testing::HasSubstr("NC unknown (counts as 0): this is the first read on this storage\n"));
  automatic.End();
}

TEST_F(AutomaticThreadsTest, DoesNotMindAPathThatIsNotThere)
{
  AutomaticThreads automatic;
  automatic.Begin(*this->Alone, "/nowhere/at/all", ThreadPolicy::Polite, 256);
  EXPECT_GE(automatic.Control().Threads(), 1);
  automatic.End();
  EXPECT_TRUE(fs::is_empty(this->Folder / "profiles")) << "a short read teaches nothing";
}

}  // namespace
}  // namespace patchio
