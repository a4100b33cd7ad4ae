#include "Read/ReadSession.h"

#include "DumpSeries.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace patchio {
namespace {

using testing::DumpSeries;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionReading : public ::testing::Test
{
protected:
  SessionReading()
  {
    this->Session.Series.SetIndexMode(IndexMode::Off);
    this->Request.Variables.CellsOff = {"pressure", "fine only"};
    this->Request.Variables.PointsOff = {"velocity"};
    this->Request.Options.LastLevel = 1;
    this->Request.Threads.ThreadsPerRank = 2;
    this->Request.CacheMemory = 0;
    this->Request.PrefetchSteps = 2;
    this->Observer.Progress = [this](double, const std::string& text) {
      this->Told.push_back(text);
      return !this->Stop || text.rfind(*this->Stop, 0) != 0;
    };
    this->Observer.Warn = [this](const std::string& text) {
      if (!text.empty()) {
        this->Warnings.push_back(text);
      }
    };
  }

  void SetUp() override
  {
    for (const std::string& path : this->Series.Paths()) {
      this->Session.Series.AddFile(path);
    }
    this->Open();
  }

  void Open()
  {
    this->Session.Series.Open(*this->Alone, {});
    this->Session.Series.OpenAny(*this->Alone);
  }

  /// Reads a step. Returns nullopt if the read was stopped.
  std::optional<LoadedStep> Read(int step)
  {
    std::optional<LocatedStep> located =
        this->Session.Locate(*this->Alone, step, this->Request, this->Observer);
    return located ? this->Session.Load(std::move(*located), this->Request, this->Observer) : std::nullopt;
  }

  void Prefetch() { this->Session.Prefetch(*this->Alone, this->Request, this->Observer); }

  /// Reads a step completely. Returns whether its prefetch had begun.
  bool ShowWasAhead(int step, int valuesOf = -1)
  {
    std::optional<LoadedStep> loaded = this->Read(step);
    DumpSeries::ExpectDensity(*loaded, valuesOf < 0 ? step : valuesOf);
    this->Session.Report(*loaded);
    this->Prefetch();
    return loaded->Report().Prefetches == 1;
  }

  /// Shows steps 0 and 1, which give the direction of play.
  void ShowTwo()
  {
    this->ShowWasAhead(0);
    this->ShowWasAhead(1);
  }

  const DumpSeries Series{6};
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  ReadRequest Request;
  ReadObserver Observer;
  std::vector<std::string> Warnings;
  std::vector<std::string> Told;
  std::optional<std::string> Stop;  ///< the user stops the activity whose text begins like this
  ReadSession Session{8};
};

}  // namespace

TEST_F(SessionReading, ReadsAheadInTheDirectionOfPlay)
{
  EXPECT_FALSE(this->ShowWasAhead(0));
  EXPECT_FALSE(this->ShowWasAhead(1));
  for (const int step : {2, 3, 4, 5}) {
    EXPECT_TRUE(this->ShowWasAhead(step)) << step;
  }
  EXPECT_FALSE(this->ShowWasAhead(4)) << "nobody knew that it goes back";
  for (const int step : {3, 2, 1, 0}) {
    EXPECT_TRUE(this->ShowWasAhead(step)) << step;
  }
  EXPECT_EQ(this->Session.Series.CurrentTime(), 0);
  EXPECT_TRUE(this->Warnings.empty());
}

TEST_F(SessionReading, ReadsNothingAheadThatNobodyWants)
{
  this->Request.PrefetchSteps = 0;
  for (const int step : {0, 1, 2, 3}) {
    EXPECT_FALSE(this->ShowWasAhead(step));
  }
}

TEST_F(SessionReading, BeginsAgainWhenStopped)
{
  this->ShowTwo();
  this->Session.StopPrefetch();
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_FALSE(this->ShowWasAhead(3));
  EXPECT_TRUE(this->ShowWasAhead(4));
}

TEST_F(SessionReading, ForgetsWhatIsReadAheadWithItsFiles)
{
  for (int round = 0; round < 20; ++round) {
    this->ShowWasAhead(round % 4);
    this->ShowWasAhead(round % 4 + 1);
    this->Session.Forget();
    EXPECT_FALSE(this->Session.Series.IsOpen());
    this->Open();
    EXPECT_FALSE(this->ShowWasAhead(round % 4 + 2));
  }
}

TEST_F(SessionReading, ReadsAgainWhatIsNotWantedInThatFormNow)
{
  this->ShowTwo();
  this->Request.Options.LastLevel = 0;
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_EQ(this->Read(2)->Plan.LocalBlocks.size(), 2u) << "the patches of level 0";
}

TEST_F(SessionReading, ReadsAgainWhereOtherArraysAreWantedNow)
{
  this->ShowTwo();
  this->Request.Variables.CellsOff = {"fine only"};
  EXPECT_FALSE(this->ShowWasAhead(2)) << "without the pressure";
}

TEST_F(SessionReading, ReadsAgainWhatHasChangedSince)
{
  this->ShowTwo();
  DumpSeries::WriteDensity(this->Series.Paths()[2], 50);
  EXPECT_FALSE(this->ShowWasAhead(2, 50));
}

TEST_F(SessionReading, ReadsAheadOnlyThePatchesWithTheValues)
{
  // According to the draft of the summary, all values of a patch equal its number, 0 to 2.
  this->Request.Values = ValueCondition{"density", {5, 6}};
  const auto patchesRead = [this](int step) {
    std::optional<LoadedStep> loaded = this->Read(step);
    this->Session.Report(*loaded);
    this->Prefetch();
    return std::make_pair(loaded->Report().Prefetches, loaded->Plan.LocalBlocks.size());
  };
  EXPECT_EQ(patchesRead(0), std::make_pair(0, std::size_t(0)));
  EXPECT_EQ(patchesRead(1), std::make_pair(0, std::size_t(0)));
  EXPECT_EQ(patchesRead(2), std::make_pair(1, std::size_t(0)));
  this->Request.Values->Range = {-1e9, 1e9};
  EXPECT_EQ(patchesRead(3), std::make_pair(0, std::size_t(3))) << "others than were read ahead";
  EXPECT_EQ(patchesRead(4), std::make_pair(1, std::size_t(3)));
}

TEST_F(SessionReading, SaysWhyNothingIsReadAhead)
{
  const auto reason = HasSubstr("not read ahead: the memory limit leaves no space for another step");
  this->Request.MemoryLimit = 4500;  // one segment of memory
  for (const int step : {0, 1}) {
    EXPECT_FALSE(this->ShowWasAhead(step));
    EXPECT_THAT(this->Session.Reports.Text(), ::testing::Not(reason)) << "nobody knew what comes next";
  }
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_THAT(this->Session.Reports.Text(), reason);
  EXPECT_FALSE(this->ShowWasAhead(0));
  EXPECT_THAT(this->Session.Reports.Text(), ::testing::Not(reason)) << "another step was to come";
  this->Request.MemoryLimit = 1 << 20;
  for (const int step : {1, 2}) {
    this->ShowWasAhead(step);
  }
  EXPECT_TRUE(this->ShowWasAhead(3));
  EXPECT_THAT(this->Session.Reports.Text(), ::testing::Not(reason));
}

TEST_F(SessionReading, IsStoppedAndReadsTheNextTime)
{
  for (const char* stage : {"Reading", "Locating"}) {
    this->Stop = stage;
    this->Told.clear();
    EXPECT_FALSE(this->Read(3)) << stage;
    EXPECT_EQ(this->Told.back().rfind(stage, 0), 0u) << "went on to " << this->Told.back();
    EXPECT_THAT(this->Session.Reports.Json(), HasSubstr("\"cancelled\":true"));
    this->Stop.reset();
    EXPECT_FALSE(this->ShowWasAhead(3));
    EXPECT_THAT(this->Session.Reports.Json(), HasSubstr("\"cancelled\":false"));
  }
}

TEST_F(SessionReading, MakesNoIndexWhenStopped)
{
  this->Session.Series.SetIndexMode(IndexMode::On);
  this->Session.Forget();
  this->Open();
  this->Stop = "Locating";
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(this->Read(2));
    EXPECT_EQ(this->Session.Series.Step().Index(), nullptr);
    EXPECT_EQ(this->Session.Series.Step().Origin(), "");
  }
  this->Stop.reset();
  this->ShowWasAhead(2);
  ASSERT_NE(this->Session.Series.Step().Index(), nullptr);
  this->Stop = "Locating";
  EXPECT_TRUE(this->Read(2)) << "there is nothing to stop any more";
}

TEST_F(SessionReading, ShowsWhatIsThereWhenStoppedAtTheNextStep)
{
  for (const IndexMode mode : {IndexMode::Off, IndexMode::On}) {
    this->Session.Series.SetIndexMode(mode);
    this->Session.Forget();
    this->Open();
    this->ShowWasAhead(0);
    std::optional<LoadedStep> loaded = this->Read(1);
    DumpSeries::ExpectDensity(*loaded, 1);
    this->Session.Report(*loaded);
    this->Stop = "Locating";
    this->Prefetch();
    this->Stop.reset();
    EXPECT_FALSE(this->ShowWasAhead(2));
    EXPECT_THAT(this->Session.Reports.Text(),
        HasSubstr("not read ahead: locating the values of the step was interrupted"));
    EXPECT_TRUE(this->ShowWasAhead(3));
  }
}

TEST_F(SessionReading, SaysWhatIsWrongWithTheRequest)
{
  this->Request.Options.FirstLevel = this->Request.Options.LastLevel = 7;
  EXPECT_TRUE(this->Read(0)->Plan.LocalBlocks.empty());
  EXPECT_THAT(this->Warnings, ElementsAre(HasSubstr("contains none of the 2 levels of this time step")));
  this->Request.Values = ValueCondition{"nothing", {}};
  EXPECT_THAT(testing::MessageOf([this] { this->Read(0); }), HasSubstr("The data have no array 'nothing'"));
}

TEST_F(SessionReading, FailsForABrokenStepAndShowsTheOthers)
{
  this->ShowTwo();
  std::filesystem::resize_file(testing::ClusterPath(this->Series.Paths()[2], 1), 100);
  EXPECT_THAT(testing::MessageOf([this] { this->Read(2); }), HasSubstr("some patches cannot be read"));
  EXPECT_FALSE(this->ShowWasAhead(3));
  this->Request.Options.SkipBroken = true;
  EXPECT_THAT(this->Read(2)->Warning(), HasSubstr("PatchIO skips 2 of 3 patches, which cannot be read"));
}

TEST_F(SessionReading, ForgetsThatAFileWasMissingOnceItIsBack)
{
  const std::string path = testing::ClusterPath(this->Series.Paths()[2], 1);
  this->Session.Series.SetIndexMode(IndexMode::On);
  this->Request.PrefetchSteps = 0;
  std::filesystem::rename(path, path + ".away");
  EXPECT_THAT(testing::MessageOf([this] { this->Read(2); }), HasSubstr(path));
  this->ShowWasAhead(3);
  std::filesystem::rename(path + ".away", path);
  this->ShowWasAhead(2);
  EXPECT_TRUE(this->Warnings.empty());
}

TEST_F(SessionReading, SaysOnceThatSomethingIsBrokenThatIsNotShown)
{
  // Only the first patch is displayed; the second cluster file, with the other patches, is cut off.
  std::filesystem::resize_file(testing::ClusterPath(this->Series.Paths()[0], 1), 100);
  this->Session.Forget();
  this->Session.Series.SetIndexMode(IndexMode::On);
  this->Open();
  this->Request.Options.Region.Type = RegionOfInterest::Shape::InBox;
  this->Request.Options.Region.Lower = {10, -1, 0};
  this->Request.Options.Region.Upper = {10.2, 0, 0};
  this->Request.PrefetchSteps = 0;
  this->Request.Options.LastLevel = 0;
  this->Read(0);
  ASSERT_EQ(this->Warnings.size(), 1u);
  EXPECT_THAT(this->Warnings[0], HasSubstr("Parts of the data that are not shown are damaged or missing"));
  EXPECT_THAT(this->Warnings[0], HasSubstr(testing::ClusterPath(this->Series.Paths()[0], 1)));
  this->Read(0);
  EXPECT_EQ(this->Warnings.size(), 1u);
}

TEST_F(SessionReading, KeepsALimitedNumberOfOpenedSteps)
{
  RecentSteps recent;
  std::vector<std::weak_ptr<OpenedStep>> steps;
  for (std::size_t i = 0; i < RecentSteps::MostSteps + 6; ++i) {
    const auto step = std::make_shared<OpenedStep>(*this->Alone, this->Series.Paths()[0], IndexMode::Off);
    recent.Add("step " + std::to_string(i), step);
    steps.push_back(step);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].expired(), i < 6) << i;
  }
}

namespace {

/// A growing series of dumps that a dumps.visit lists.
class SeriesGrowth : public SessionReading
{
protected:
  void SetUp() override
  {
    this->Session.Series.AddFile(this->Folder / "dumps.visit");
    this->Request.PrefetchSteps = 1;
  }

  void List(const std::vector<int>& steps)
  {
    // The dumps are in another folder than the index, because dumps beside it would be found without it.
    const std::string link = this->Folder / "dumps";
    std::error_code ignored;
    const auto folder = std::filesystem::path(this->Series.Paths()[0]).parent_path().parent_path();
    std::filesystem::create_directory_symlink(folder, link, ignored);
    std::string text;
    for (const int step : steps) {
      text += "dumps/" +
              std::filesystem::path(this->Series.Paths()[step]).lexically_relative(folder).string() + "\n";
    }
    testing::WriteText(this->Folder / "dumps.visit", text);
  }

  void Open(const std::vector<int>& steps)
  {
    this->List(steps);
    SessionReading::Open();
  }

  bool Look() { return this->Session.AddNewSteps(*this->Alone); }

  std::vector<double> Times() const { return this->Session.Series.Times(); }

  /// Shows the values of `step`, which has this number in the series. Returns whether the step was
  /// prefetched.
  bool Show(int number, int step) { return this->ShowWasAhead(number, step); }

  testing::TempFolder Folder;
};

}  // namespace

TEST_F(SeriesGrowth, AddsStepsAndKeepsWhatIsShown)
{
  this->Open({0, 3});
  this->Show(1, 3);
  EXPECT_FALSE(this->Look());
  this->List({0, 3, 1, 5});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Times(), ElementsAre(0, 1, 3, 5));
  EXPECT_EQ(this->Session.Series.CurrentStep(), 2u);
  EXPECT_EQ(this->Session.Series.CurrentTime(), 3);
  EXPECT_FALSE(this->Look());
  for (const auto& [number, step] : {std::pair{3, 5}, {0, 0}, {1, 1}, {2, 3}}) {
    this->Show(number, step);
  }
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
}

TEST_F(SeriesGrowth, GoesOnToReadAheadWhereNewStepsFollow)
{
  this->Open({0, 1, 2});
  EXPECT_FALSE(this->Show(0, 0));
  EXPECT_FALSE(this->Show(1, 1));
  this->List({0, 1, 2, 3});
  EXPECT_TRUE(this->Look());
  EXPECT_TRUE(this->Show(2, 2));
  EXPECT_TRUE(this->Show(3, 3));
}

TEST_F(SeriesGrowth, DropsWhatIsReadAheadWhereStepsComeBetween)
{
  this->Open({0, 2, 4});
  EXPECT_FALSE(this->Show(0, 0));
  EXPECT_FALSE(this->Show(1, 2));
  this->List({0, 2, 3, 4});
  EXPECT_TRUE(this->Look());
  EXPECT_FALSE(this->Show(2, 3)) << "step 4 had this number";
  EXPECT_FALSE(this->Show(3, 4));
}

TEST_F(SeriesGrowth, ReadsNoKnownHeadAgain)
{
  this->Open({0, 1});
  // It could not be read again.
  std::filesystem::resize_file(this->Series.Paths()[1], 10);
  this->List({0, 1, 2});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Times(), ElementsAre(0, 1, 2));
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
}

TEST_F(SeriesGrowth, TriesNewStepsWhereNoOtherIsReadable)
{
  this->List({0});
  this->Session.Series.Open(*this->Alone, {});
  std::filesystem::rename(this->Series.Paths()[0], this->Folder / "away");
  for (int call = 0; call < 2; ++call) {
    EXPECT_THROW(this->Session.Series.OpenAny(*this->Alone), Error);
  }
  this->List({0, 1});
  EXPECT_TRUE(this->Look());
  EXPECT_NO_THROW(this->Session.Series.OpenAny(*this->Alone));
  EXPECT_EQ(this->Session.Series.CurrentTime(), 1);
}

TEST_F(SeriesGrowth, WaitsForValues)
{
  const std::string cluster = testing::ClusterPath(this->Series.Paths()[2], 1);
  const auto whole = std::filesystem::file_size(cluster);
  std::filesystem::copy(cluster, this->Folder / "whole");
  std::filesystem::resize_file(cluster, whole / 2);
  this->Open({0, 1});
  this->List({0, 1, 2});
  EXPECT_FALSE(this->Look());
  EXPECT_FALSE(this->Look());
  std::filesystem::copy(this->Folder / "whole", cluster, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(this->Look());
  this->Show(2, 2);
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
}

TEST_F(SeriesGrowth, WaitsForAStepThatALaterStepHasOvertaken)
{
  const std::string cluster = testing::ClusterPath(this->Series.Paths()[1], 1);
  std::filesystem::copy(cluster, this->Folder / "whole");
  std::filesystem::resize_file(cluster, std::filesystem::file_size(cluster) / 2);
  this->Open({0});
  this->List({0, 1, 2});
  // Younger files always count as changed.
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Times(), ElementsAre(0, 2));
  std::filesystem::copy(this->Folder / "whole", cluster, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(this->Look()) << "the files that are watched did not change";
  EXPECT_THAT(this->Times(), ElementsAre(0, 1, 2));
}

TEST_F(SeriesGrowth, TellsOfStepsThatDoNotComeOnceThatIsClear)
{
  std::filesystem::resize_file(testing::ClusterPath(this->Series.Paths()[1], 1), 100);
  this->Open({0});
  for (const int last : {1, 2}) {
    this->List(last == 1 ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2});
    EXPECT_EQ(this->Look(), last == 2);
    EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
  }
  this->List({0, 1, 2, 3});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), HasSubstr("PatchIO skips step 1."));
  this->List({0, 1, 2, 3, 4});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
  EXPECT_THAT(this->Times(), ElementsAre(0, 2, 3, 4));
}

TEST_F(SeriesGrowth, NeitherShrinksNorTakesTheStepsOfAnotherRun)
{
  this->Open({0, 1, 2});
  this->List({0, 2});
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), HasSubstr("Step 1 in"));
  this->List({0, 2, 3});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Times(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty()) << "it was told already";
  const auto longAgo = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(this->Series.Paths()[0], longAgo);
  this->List({0, 4});
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), HasSubstr("another run may have started"));
  this->List({0, 4, 5});
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
  this->Session.Forget();
  this->Open({0, 4, 5});
  EXPECT_THAT(this->Times(), ElementsAre(0, 4, 5));
}

TEST_F(SeriesGrowth, SaysOnceThatThereIsNothingToLookAt)
{
  this->Open({0, 1});
  std::filesystem::remove(this->Folder / "dumps.visit");
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty()) << "it may be there again soon";
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), HasSubstr("dumps.visit"));
  EXPECT_FALSE(this->Look());
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
  this->List({0, 1, 2});
  EXPECT_TRUE(this->Look());
}

TEST(WatchedFiles, ChangedIsWhatIsNewOrGoneOrYoung)
{
  testing::TempFolder folder;
  const std::string file = folder / "file", later = folder / "later";
  testing::WriteText(file, "a");
  WatchedFiles watched;
  EXPECT_TRUE(watched.Changed()) << "no files are watched yet";
  const std::int64_t second = 1'000'000'000, future = NowInNanoseconds() + 10 * second;
  watched.Watch({file, folder.Path(), later}, future, 2);
  EXPECT_FALSE(watched.Changed());
  testing::WriteText(later, "b");
  EXPECT_TRUE(watched.Changed());
  watched.Watch({file, folder.Path(), later}, future, 2);
  EXPECT_FALSE(watched.Changed());
  testing::WriteText(file, "aa");
  EXPECT_TRUE(watched.Changed());
  watched.Watch({file}, future, 2);
  std::filesystem::remove(file);
  EXPECT_TRUE(watched.Changed());
  testing::WriteText(file, "a");
  watched.Watch({file}, NowInNanoseconds(), 2);
  EXPECT_TRUE(watched.Changed()) << "it may change once more within the same tick of the clock";
  watched.Watch({file}, future, 2);
  EXPECT_FALSE(watched.Changed());
  watched.Forget();
  EXPECT_TRUE(watched.Changed());
}

}  // namespace patchio
