#include "Probe/QuickProbe.h"

#include "../Core/Tools/TestTools.h"
#include "Base/Bytes.h"
#include "FakeSource.h"
#include "Probe/Interrupt.h"
#include "Probe/StorageMeter.h"
#include "Probe/TestFiles.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace patchio::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using ::testing::Not;
using testing::TempFolder;
using testing::WriteText;

bool IsEmptyFolder(const TempFolder& folder)
{
  return std::filesystem::is_empty(folder.Path());
}

TEST(ProbeBlocks, CoverTheWholeBlocksOfAllFiles)
{
  const ProbeBlocks blocks({10, 3, 0, 8}, 4);
  ASSERT_EQ(blocks.Count(), 4u);
  std::vector<std::pair<int, std::uint64_t>> places;
  for (std::uint64_t i = 0; i < blocks.Count(); ++i) {
    places.emplace_back(blocks.At(i).File, blocks.At(i).Offset);
  }
  EXPECT_THAT(places, ElementsAre(std::pair(0, 0u), std::pair(0, 4u), std::pair(3, 0u), std::pair(3, 4u)));
  EXPECT_EQ(ProbeBlocks({}, 4).Count(), 0u);
  EXPECT_EQ(ProbeBlocks({3}, 4).Count(), 0u);
}

/// A storage of one file, which needs a moment for each request and records the places that are read.
class NotingSource : public Source, private Source::File
{
public:
  explicit NotingSource(std::chrono::microseconds moment) : Moment(moment) {}
  std::shared_ptr<Source::File> Open(int) override { return {std::shared_ptr<void>(), this}; }
  std::vector<std::uint64_t> Offsets;
  std::atomic<std::size_t> Requests{0};
  std::atomic<int> InFlight{0};
  std::atomic<int> Most{0};

private:
  void Read(std::uint64_t offset, const std::vector<iovec>&) override
  {
    ++this->Requests;
    const int now = ++this->InFlight;
    {
      const std::lock_guard<std::mutex> lock(this->Mutex);
      this->Offsets.push_back(offset);
      this->Most = std::max(this->Most.load(), now);
    }
    std::this_thread::sleep_for(this->Moment);
    --this->InFlight;
  }

  const std::chrono::microseconds Moment;
  std::mutex Mutex;
};

TEST(RateMeter, KeepsAllRequestsInFlightUntilAllRanksHaveCounted)
{
  NotingSource source(std::chrono::milliseconds(2));
  MeterSettings settings;
  settings.Threads = 6;
  settings.WarmUp = 0.01;
  settings.Seconds = 0.05;
  int waits = 0;
  std::size_t before = 0;
  settings.WaitForOtherRanks = [&] {
    ++waits;
    before = source.Requests;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  const MeteredRate rate = MeasureRate(source, ProbeBlocks({64 * 4096}, 4096), settings);
  EXPECT_EQ(rate.Fault, "");
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(source.Most, 6);
  EXPECT_GT(source.Requests, before);
  // No request is faster than the storage.
  EXPECT_GT(rate.Rate, 0);
  EXPECT_LE(rate.Rate, 6 * 4096 / 2e-3);
  ASSERT_THAT(rate.Seconds, Not(IsEmpty()));
  EXPECT_GE(*std::min_element(rate.Seconds.begin(), rate.Seconds.end()), 2e-3);
}

TEST(RateMeter, ReadsAllBlocksInTurnOrFarFromEachOther)
{
  for (const bool scattered : {false, true}) {
    NotingSource source(std::chrono::microseconds(100));
    MeterSettings settings;
    settings.Scattered = scattered;
    settings.Start = 0.5;
    settings.WarmUp = 0;
    settings.Seconds = 0.05;
    MeasureRate(source, ProbeBlocks({20 * 4096}, 4096), settings);
    ASSERT_GE(source.Offsets.size(), 20u);
    const std::set<std::uint64_t> all(source.Offsets.begin(), source.Offsets.begin() + 20);
    EXPECT_EQ(all.size(), 20u);
    EXPECT_EQ(source.Offsets[0], 10u * 4096);
    EXPECT_EQ(source.Offsets[1] == 11u * 4096, !scattered);
  }
}

TEST(RateMeter, SaysWhatWentWrongAndStillMeetsTheOthers)
{
  FakeBehaviour behaviour;
  behaviour.FailingFiles = {0};
  FakeSource source({std::vector<std::byte>(1 << 16)}, behaviour);
  MeterSettings settings;
  settings.Threads = 3;
  int waits = 0;
  settings.WaitForOtherRanks = [&waits] { ++waits; };
  const MeteredRate rate = MeasureRate(source, ProbeBlocks({1 << 16}, 4096), settings);
  EXPECT_NE(rate.Fault, "");
  EXPECT_EQ(rate.Rate, 0);
  EXPECT_EQ(waits, 1);
  settings.Threads = 0;
  EXPECT_EQ(MeasureRate(source, ProbeBlocks({1 << 16}, 4096), settings).Fault, "");
  EXPECT_EQ(waits, 2);
}

TEST(RateMeter, EndsWhereRequestsTakeTooLong)
{
  NotingSource source(std::chrono::milliseconds(20));
  MeterSettings settings;
  settings.Threads = 4;
  settings.Seconds = 3600;
  settings.MostSeconds = 0.05;
  int waits = 0;
  settings.WaitForOtherRanks = [&waits] { ++waits; };
  const MeteredRate rate = MeasureRate(source, ProbeBlocks({64 * 4096}, 4096), settings);
  EXPECT_EQ(rate.Fault, "");
  EXPECT_EQ(waits, 1);
  EXPECT_GT(rate.Rate, 0);
  EXPECT_LE(rate.Rate, 4 * 4096 / 20e-3);
  ASSERT_THAT(rate.Seconds, Not(IsEmpty()));
  EXPECT_GE(*std::min_element(rate.Seconds.begin(), rate.Seconds.end()), 19e-3);
  settings.Threads = 0;
  EXPECT_EQ(MeasureRate(source, ProbeBlocks({64 * 4096}, 4096), settings).Rate, 0);
}

TEST(RateMeter, IsCancelled)
{
  NotingSource source(std::chrono::milliseconds(1));
  const std::atomic<bool> cancel{true};
  MeterSettings settings;
  settings.Seconds = 3600;
  settings.Cancel = &cancel;
  const MeteredRate rate = MeasureRate(source, ProbeBlocks({1 << 16}, 4096), settings);
  EXPECT_TRUE(rate.Cancelled);
  EXPECT_EQ(rate.Rate, 0);
}

TEST(TestFiles, AreWrittenAndRemoved)
{
  const TempFolder folder;
  const auto self = MakeSelfCommunicator();
  {
    const TestFiles files(*self, folder.Path(), 96 * MiB, 60);
    EXPECT_EQ(files.Files().TotalBytes(), 96 * MiB);
    EXPECT_EQ(files.Files().Paths.size(), 3u);
    for (const std::string& path : files.Files().Paths) {
      EXPECT_EQ(std::filesystem::file_size(path), 32 * MiB);
    }
  }
  EXPECT_TRUE(IsEmptyFolder(folder));
}

TEST(TestFiles, AreRemovedWhenTheyCannotBeWritten)
{
  const TempFolder folder;
  const auto self = MakeSelfCommunicator();
  EXPECT_THAT(MessageOf([&] { TestFiles(*self, folder.Path(), std::uint64_t{1} << 55, 60); }),
      HasSubstr("space for"));
  EXPECT_TRUE(IsEmptyFolder(folder));
  EXPECT_THAT(MessageOf([&] { TestFiles(*self, folder / "missing", MiB, 60); }), HasSubstr("missing"));
}

TEST(TestFiles, AreFewerWhereWritingTakesTooLongAndGoAtASignal)
{
  const TempFolder folder;
  const auto self = MakeSelfCommunicator();
  const Interrupt interrupt;
  const TestFiles files(*self, folder.Path(), 96 * MiB, 1e-9);
  EXPECT_EQ(files.Files().TotalBytes(), 16 * MiB);
  ASSERT_EQ(files.Files().Paths.size(), 1u);
  EXPECT_FALSE(IsEmptyFolder(folder));
  ::raise(SIGTERM);
  EXPECT_TRUE(IsEmptyFolder(folder));
}

/// Returns the number of a process that has ended.
pid_t DeadProcess()
{
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(ProbeFolder, OfDeadProcessesGoes)
{
  namespace fs = std::filesystem;
  const TempFolder folder;
  const std::string own = MakeProbeFolder(folder.Path());
  const std::string second = MakeProbeFolder(folder.Path());
  EXPECT_NE(own, second);
  const std::string stem = own.substr(0, own.rfind('_') + 1);
  const std::string dead = stem + std::to_string(DeadProcess());
  const std::string dead2 = dead + ".2";
  const std::string other = folder / "patchio_probe_another_1";
  const std::vector<std::string> strangers{folder / "patchio_probe_data", folder / "patchio_probe__x", stem,
      stem + "12x", stem + "-1", dead + "_", folder / "data"};
  for (const std::string& path : {dead, dead2, other}) {
    fs::create_directory(path);
    WriteText(path + "/0_0", "x");
  }
  for (const std::string& path : strangers) {
    fs::create_directory(path);
  }
  fs::create_directory_symlink(folder / "data", dead + ".3");
  const ProbeFolders found = RemoveDeadProbeFolders(folder.Path());
  EXPECT_THAT(found.Removed, ElementsAre(dead, dead2));
  EXPECT_THAT(found.Remaining, ::testing::UnorderedElementsAre(dead + ".3", other));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(own));
  EXPECT_TRUE(fs::exists(other + "/0_0"));
  for (const std::string& path : strangers) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
  EXPECT_THAT(RemoveDeadProbeFolders(folder / "none").Removed, IsEmpty());
  EXPECT_THAT(MessageOf([&] { MakeProbeFolder(folder / "none"); }), HasSubstr("none"));
}

TEST(TestFiles, MayBeFoundInstead)
{
  const TempFolder folder;
  std::filesystem::create_directory(folder / "sub");
  WriteText(folder / "sub/a", std::string(MiB, 'a'));
  WriteText(folder / "b", std::string(100000, 'b'));
  WriteText(folder / "small", "c");
  const ProbeFiles files = FindProbeFiles({folder.Path()});
  EXPECT_THAT(files.Paths, ElementsAre(folder / "b", folder / "sub/a"));
  EXPECT_THAT(files.Bytes, ElementsAre(100000u, MiB));
  EXPECT_THAT(MessageOf([&] { FindProbeFiles({folder / "small"}); }), HasSubstr("64 KiB"));
  EXPECT_THAT(MessageOf([&] { FindProbeFiles({folder / "missing"}); }), HasSubstr("missing"));
}

QuickProbeOptions Short()
{
  QuickProbeOptions options;
  options.Seconds = 1;
  options.TestBytes = 32 * MiB;
  options.MostConcurrency = 8;
  return options;
}

TEST(QuickProbe, GivesAProfile)
{
  const TempFolder folder;
  const auto self = MakeSelfCommunicator();
  double last = 0;
  int calls = 0;
  const QuickProbeResult result =
      RunQuickProbe(*self, folder.Path(), Short(), [&](const ProbeProgress& progress) {
        EXPECT_GE(progress.Fraction, last);
        EXPECT_LE(progress.Fraction, 1);
        EXPECT_GE(progress.SecondsLeft, 0);
        EXPECT_NE(progress.Activity, "");
        EXPECT_NE(progress.Samples, nullptr);
        last = progress.Fraction;
        ++calls;
        return true;
      });
  EXPECT_GT(calls, 10);
  EXPECT_GT(last, 0.5);
  EXPECT_FALSE(result.Cancelled);
  EXPECT_TRUE(IsEmptyFolder(folder));
  const StorageProfile& profile = result.Profile;
  EXPECT_TRUE(profile.Fit.Known());
  EXPECT_GE(profile.Concurrency, 1);
  EXPECT_LE(profile.Concurrency, 8);
  std::set<int> tried;
  for (const RateSample& sample : profile.Samples) {
    EXPECT_GT(sample.Rate, 0);
    tried.insert(sample.Concurrency);
  }
  for (const int n : {1, 2, 4, 8}) {
    EXPECT_EQ(tried.count(n), 1u) << n;
  }
  EXPECT_TRUE(result.CostAlone.Known);
  EXPECT_GE(profile.BlockBytes, LeastBlockBytes);
  EXPECT_EQ(profile.Source, MeasuredSource);
  EXPECT_EQ(profile.StorageMount.Point, MountOf(folder.Path()).value().Point);
  EXPECT_GT(profile.ExpiresAt, profile.MeasuredAt);
}

TEST(QuickProbe, ReadsExistingFilesAndLeavesThem)
{
  const TempFolder folder;
  WriteText(folder / "data", std::string(20 * MiB + 77, 'a'));
  QuickProbeOptions options = Short();
  options.ExistingFiles = {folder.Path()};
  const auto self = MakeSelfCommunicator();
  EXPECT_TRUE(RunQuickProbe(*self, folder.Path(), options).Profile.Fit.Known());
  EXPECT_EQ(std::filesystem::file_size(folder / "data"), 20 * MiB + 77);
}

TEST(QuickProbe, LeavesAPartWhenItIsCancelled)
{
  const auto self = MakeSelfCommunicator();
  for (const int calls : {1, 5, 12}) {
    const TempFolder folder;
    int left = calls;
    const QuickProbeResult result =
        RunQuickProbe(*self, folder.Path(), Short(), [&left](const ProbeProgress&) { return --left > 0; });
    EXPECT_TRUE(result.Cancelled);
    EXPECT_TRUE(IsEmptyFolder(folder));
    EXPECT_EQ(result.Profile.Concurrency > 0, result.Profile.Fit.Known());
    EXPECT_LE(result.Profile.Samples.size(), static_cast<std::size_t>(calls));
  }
  const TempFolder folder;
  const std::atomic<bool> cancel{true};
  QuickProbeOptions options = Short();
  options.Cancel = &cancel;
  EXPECT_TRUE(RunQuickProbe(*self, folder.Path(), options).Cancelled);
  EXPECT_TRUE(IsEmptyFolder(folder));
}

}  // namespace
}  // namespace patchio::probe
