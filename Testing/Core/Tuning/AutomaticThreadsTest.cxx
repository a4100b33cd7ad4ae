#include "Tuning/AutomaticThreads.h"

#include "ReadForAWhile.h"
#include "TestTools.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace fs = std::filesystem;

namespace patchio {
namespace {

using ::testing::HasSubstr;

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

  void WriteText(const std::string& text) const
  {
    testing::WriteText(this->Folder / "profiles" / "by_hand.json", text);
  }
  std::string MountPoint() const { return MountOf(this->Folder).value().Point; }
  /// Writes a profile of the folder's mount with these members.
  void WriteProfile(const std::string& members) const
  {
    this->WriteText("{\"mount\": \"" + this->MountPoint() + "\", " + members + "}");
  }

  void Begin(const fs::path& path, int most = 256)
  {
    this->Automatic.Begin(*this->Alone, path, ThreadPolicy::Balanced, most);
  }
  void Begin() { this->Begin(this->Folder); }
  void ReadNothing()
  {
    this->Begin();
    this->Automatic.End();
  }

  /// Makes the sensor number its estimates of the load.
  void NumberEstimates()
  {
    this->Automatic.SenseLoad = [this](const OwnReads&) {
      ++this->Asked;
      return LoadEstimate{1.0 * this->Asked, 0.5, fmt::format("estimate {}", this->Asked)};
    };
  }

  const testing::TempFolder Scratch;
  const fs::path Folder = Scratch.Path();
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  AutomaticThreads Automatic;
  int Asked = 0;  ///< number of estimates
};

TEST_F(AutomaticThreadsTest, BeginsWithAGuessWhereThereIsNoProfile)
{
  this->Begin();
  EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, 0);
  const int guess = GuessConcurrency(
      this->Automatic.Choice().Storage.Class, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_EQ(this->Automatic.Control().Threads(), guess);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("N* unknown"));
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("Reads in flight: " + std::to_string(guess)));
  EXPECT_THAT(this->Automatic.Text(),
      HasSubstr("NC unknown (counts as 0): this is the first read on this storage\n"));
  this->Automatic.End();
}

TEST_F(AutomaticThreadsTest, BeginsWithTheProfilesNumber)
{
  this->WriteProfile("\"best_concurrency\": 37");
  this->Begin();
  EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, 37);
  EXPECT_EQ(this->Automatic.Control().Threads(), 37);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("N* = 37"));
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("by_hand.json"));
  this->Automatic.End();
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("Reads in flight: 37\n"));
  EXPECT_FALSE(this->Automatic.Choice().CostOfRequest.has_value())
      << "the profile does not say what a request costs";
  this->Begin(this->Folder, 20);
  EXPECT_EQ(this->Automatic.Control().Threads(), 20) << "no more than the rank can have";
  this->Automatic.End();
}

TEST_F(AutomaticThreadsTest, TakesThreadsFromATable)
{
  this->WriteProfile("\"threads_of_ranks\": {\"1\": 11, \"4\": 5}");
  this->Begin();
  EXPECT_EQ(this->Automatic.Control().Threads(), 11);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("table of threads\n"));
  this->Automatic.End();
  StorageProfile profile;
  profile.Source = HandSource;
  profile.ThreadsOfRanks = {{1, 16}, {4, 8}};
  EXPECT_THAT(DescribeSource(profile, 4), ::testing::EndsWith("table of threads"));
  EXPECT_THAT(
      DescribeSource(profile, 100), ::testing::EndsWith("table of threads, beyond its end at 4 ranks"));
}

TEST_F(AutomaticThreadsTest, SaysInEachReadWhatIsWrongWithAProfile)
{
  this->WriteText("{\"mount\": ");
  for (int read = 0; read < 3; ++read) {
    this->Begin();
    EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, 0);
    EXPECT_THAT(this->Automatic.Notes(), ::testing::ElementsAre(HasSubstr("by_hand.json")));
    EXPECT_THAT(this->Automatic.Text(), HasSubstr("has no usable profile (see the notes)"));
    this->Automatic.End();
  }
}

TEST_F(AutomaticThreadsTest, FindsAProfileThatHasComeSince)
{
  this->Begin();
  EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, 0);
  this->Automatic.End();
  this->WriteProfile("\"best_concurrency\": 37");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  this->Begin();
  EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, 37);
  this->Automatic.End();
}

TEST_F(AutomaticThreadsTest, FindsTheProfileOfAnotherFolderAtOnce)
{
  const fs::path inner = fs::canonical(this->Folder) / "inner";
  fs::create_directories(inner);
  this->WriteText("{\"storages\": {\"" + this->MountPoint() + "\": 5, \"" + inner.string() + "\": 9}}");
  for (const auto& [path, concurrency] : {std::pair(this->Folder, 5), {inner, 9}, {this->Folder, 5}}) {
    this->Begin(path);
    EXPECT_EQ(this->Automatic.Choice().Storage.Concurrency, concurrency) << path;
    this->Automatic.End();
  }
}

/// A pause long enough for an estimate of the load of others.
constexpr std::chrono::milliseconds LongEnough(50);

TEST_F(AutomaticThreadsTest, AsksSeldomForTheLoadWhereReadsFollowEachOther)
{
  this->NumberEstimates();
  const Stopwatch watch;
  for (int read = 0; read < 1000; ++read) {
    this->ReadNothing();
  }
  EXPECT_LE(this->Asked, 4 + 20 * watch.Seconds())
      << "after a read and before the next, every tenth of a second";
}

TEST_F(AutomaticThreadsTest, AsksForTheLoadOfEachPauseBetweenReads)
{
  this->NumberEstimates();
  for (int read = 0; read < 3; ++read) {
    this->Begin();
    EXPECT_EQ(this->Automatic.Choice().Load.Load, 2 * read + 1);
    this->Automatic.End();
    EXPECT_EQ(this->Asked, 2 * read + 2) << "what is counted of the pause must not begin in the read";
    std::this_thread::sleep_for(3 * LongEnough);
  }
}

TEST_F(AutomaticThreadsTest, DoesNotTakeItsOwnReadsForThoseOfOthers)
{
  this->NumberEstimates();
  this->ReadNothing();
  const int askedBefore = this->Asked;
  this->ReadNothing();
  std::this_thread::sleep_for(5 * LongEnough);
  this->Begin();
  if (this->Asked == askedBefore + 1) {  // not asked after the second read, unless the machine was too slow
    EXPECT_EQ(this->Automatic.Choice().Load.Confidence, 0);
    EXPECT_EQ(this->Automatic.Choice().Storage.Load, 0);
  }
  this->Automatic.End();
}

TEST_F(AutomaticThreadsTest, SaysNcAndItsReasonOfOneEstimate)
{
  this->WriteProfile("\"best_concurrency\": 6");
  this->NumberEstimates();
  this->Begin();
  EXPECT_EQ(this->Automatic.Choice().Storage.Load, 1);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("NC = 1: estimate 1\n"));
  testing::ReadForAWhile(this->Automatic, 1.8);
  this->Automatic.End();
  ASSERT_GE(this->Asked, 3) << "no window";
  const int last = this->Asked - 1;  // but for that after the read
  EXPECT_EQ(this->Automatic.Choice().Storage.Load, last);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr(fmt::format("NC = {0}: estimate {0}\n", last)));
}

TEST_F(AutomaticThreadsTest, SaysTheLoadThatWasKnownWhileItRead)
{
  this->WriteProfile("\"best_concurrency\": 6");
  this->Automatic.SenseLoad = [this](const OwnReads&) {
    return ++this->Asked == 2 ? LoadEstimate{6, 0.5, "load 4 to 8"} : LoadEstimate{0, 0, "no counters"};
  };
  this->Begin();
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("NC unknown (counts as 0): no counters\n"));
  testing::ReadForAWhile(this->Automatic, 1.8);
  this->Automatic.End();
  EXPECT_EQ(this->Automatic.Choice().Storage.Load, 6);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("NC = 6: load 4 to 8\n"));
  // A short read afterwards does not know this load.
  std::this_thread::sleep_for(LongEnough);
  this->ReadNothing();
  EXPECT_EQ(this->Automatic.Choice().Storage.Load, 0);
  EXPECT_THAT(this->Automatic.Text(), HasSubstr("NC unknown (counts as 0): no counters\n"));
}

TEST_F(AutomaticThreadsTest, DoesNotMindAPathThatIsNotThere)
{
  this->Automatic.Begin(*this->Alone, "/nowhere/at/all", ThreadPolicy::Polite, 256);
  EXPECT_GE(this->Automatic.Control().Threads(), 1);
  this->Automatic.End();
  EXPECT_TRUE(fs::is_empty(this->Folder / "profiles")) << "a short read teaches nothing";
}

}  // namespace
}  // namespace patchio
