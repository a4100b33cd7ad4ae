#include "DumpSeries.h"
#include "Read/ReadSession.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace patchio {
namespace {

using testing::DumpSeries;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A growing series of dumps that a dumps.visit lists.
class SeriesGrowth : public ::testing::Test
{
protected:
  void SetUp() override
  {
    this->Session.Series.AddFile(this->Folder / "dumps.visit");
    this->Session.Series.SetIndexMode(IndexMode::Off);
    this->Request.Variables.CellsOff = {"pressure", "fine only"};
    this->Request.Variables.PointsOff = {"velocity"};
    this->Request.Options.LastLevel = 1;
    this->Request.PrefetchSteps = 1;
    this->Observer.Progress = [](double, const std::string&) { return true; };
    this->Observer.Warn = [](const std::string&) {};
  }

  void List(const std::vector<int>& steps)
  {
    // The dumps are in another folder than the index, because dumps beside it would be found without it.
    const std::string link = this->Folder / "dumps";
    std::error_code ignored;
    const auto folder = std::filesystem::path(this->Dumps.Paths()[0]).parent_path().parent_path();
    std::filesystem::create_directory_symlink(folder, link, ignored);
    std::string text;
    for (const int step : steps) {
      text += "dumps/" +
              std::filesystem::path(this->Dumps.Paths()[step]).lexically_relative(folder).string() + "\n";
    }
    testing::WriteText(this->Folder / "dumps.visit", text);
  }

  void Open(const std::vector<int>& steps)
  {
    this->List(steps);
    this->Session.Series.Open(*this->Alone, {});
    this->Session.Series.OpenAny(*this->Alone);
  }

  bool Look() { return this->Session.AddNewSteps(*this->Alone); }

  std::vector<double> Times() const { return this->Session.Series.Times(); }

  /// Shows a step. Returns whether the step was prefetched.
  bool Show(std::size_t number, int step)
  {
    std::optional<LocatedStep> located =
        this->Session.Locate(*this->Alone, number, this->Request, this->Observer);
    std::optional<LoadedStep> loaded = this->Session.Load(std::move(*located), this->Request, this->Observer);
    DumpSeries::ExpectDensity(*loaded, step);
    this->Session.Report(*loaded);
    this->Session.Prefetch(*this->Alone, this->Request, this->Observer);
    return loaded->Report().Prefetches == 1;
  }

  const DumpSeries Dumps{6};
  testing::TempFolder Folder;
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  ReadRequest Request;
  ReadObserver Observer;
  ReadSession Session{8};
};

/// Sets the time of a file back, as if it had been written long ago.
void MakeOld(const std::string& path)
{
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

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
  std::filesystem::resize_file(this->Dumps.Paths()[1], 10);
  this->List({0, 1, 2});
  EXPECT_TRUE(this->Look());
  EXPECT_THAT(this->Times(), ElementsAre(0, 1, 2));
  EXPECT_THAT(this->Session.Series.TakeGrowthWarning(), IsEmpty());
}

TEST_F(SeriesGrowth, WaitsForValues)
{
  const std::string cluster = testing::ClusterPath(this->Dumps.Paths()[2], 1);
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
  const std::string cluster = testing::ClusterPath(this->Dumps.Paths()[1], 1);
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
  std::filesystem::resize_file(testing::ClusterPath(this->Dumps.Paths()[1], 1), 100);
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
  MakeOld(this->Dumps.Paths()[0]);
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
  EXPECT_TRUE(watched.Changed()) << "nobody has looked yet";
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
