#include "Session/StepReader.h"

#include "DumpSeries.h"

namespace patchio {
namespace {

using testing::DumpSeries;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StepReading : public ::testing::Test
{
protected:
  void SetUp() override
  {
    for (const std::string& path : this->Series.Paths()) {
      this->Reader.Series().AddFile(path);
    }
    this->Reader.Series().SetChannel(ChannelMode::Off);
    this->Wishes.OptionsFor = [this](const Catalog&) { return this->Options; };
    this->Wishes.VariablesFor = [](const Catalog& catalog, const Int3&) {
      return std::vector<VariableRequest>{RequestAsStored(catalog, 0)};
    };
    this->Options.LastLevel = 1;
    this->Wishes.Threads.ThreadsPerRank = 2;
    this->Wishes.CacheMemory = 0;
    this->Wishes.StepsAhead = 2;
    this->Wishes.Tell = [this](double, const std::string& text) {
      this->Told.push_back(text);
      return !this->Stop || text.rfind(*this->Stop, 0) != 0;
    };
    this->Wishes.Warn = [this](const std::string& text) {
      if (!text.empty()) {
        this->Warnings.push_back(text);
      }
    };
    this->Wishes.KeptFrames = [] { return std::string(); };
    this->Wishes.KeepFrames = [](const std::string&) {};
    this->Open();
  }

  void Open()
  {
    this->Reader.Series().Open(*this->Alone, false);
    this->Reader.Series().OpenAny(*this->Alone);
  }

  std::unique_ptr<PatchUpdate> Read(int step)
  {
    std::unique_ptr<StepAhead> ahead = this->Reader.Show(*this->Alone, step);
    return this->Reader.Read(*this->Alone, this->Wishes, std::move(ahead));
  }

  /// All of an update; whether it had been begun ahead.
  bool ShowWasAhead(int step, int valuesOf = -1)
  {
    const std::unique_ptr<PatchUpdate> update = this->Read(step);
    DumpSeries::ExpectDensity(*update, valuesOf < 0 ? step : valuesOf);
    this->Reader.Report(*this->Alone, *update);
    this->Reader.ReadAhead(*this->Alone, this->Wishes);
    return update->Report().Ahead == 1;
  }

  const DumpSeries Series{6};
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  UpdateOptions Options;
  UpdateWishes Wishes;
  std::vector<std::string> Warnings;
  std::vector<std::string> Told;
  std::optional<std::string> Stop;  ///< the user stops what begins so
  StepReader Reader{8};
};

}  // namespace

TEST_F(StepReading, ReadsAheadInTheDirectionOfPlay)
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
  EXPECT_EQ(this->Reader.Series().CurrentTime(), 0);
  EXPECT_TRUE(this->Warnings.empty());
}

TEST_F(StepReading, ReadsNothingAheadThatNobodyWants)
{
  this->Wishes.StepsAhead = 0;
  for (const int step : {0, 1, 2, 3}) {
    EXPECT_FALSE(this->ShowWasAhead(step));
  }
}

TEST_F(StepReading, BeginsAgainWhenStopped)
{
  for (const int step : {0, 1}) {
    this->ShowWasAhead(step);
  }
  this->Reader.StopAhead();
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_FALSE(this->ShowWasAhead(3));
  EXPECT_TRUE(this->ShowWasAhead(4));
}

TEST_F(StepReading, ForgetsWhatIsReadAheadWithItsFiles)
{
  for (int round = 0; round < 20; ++round) {
    this->ShowWasAhead(round % 4);
    this->ShowWasAhead(round % 4 + 1);
    this->Reader.Forget();
    EXPECT_FALSE(this->Reader.Series().IsOpen());
    this->Open();
    EXPECT_FALSE(this->ShowWasAhead(round % 4 + 2));
  }
}

TEST_F(StepReading, ReadsAgainWhatIsNotWantedInThatFormNow)
{
  for (const int step : {0, 1}) {
    this->ShowWasAhead(step);
  }
  this->Options.LastLevel = 0;
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_EQ(this->Read(2)->Planned().Mine.size(), 2u) << "the patches of level 0";
}

TEST_F(StepReading, ReadsAgainWhatHasChangedSince)
{
  for (const int step : {0, 1}) {
    this->ShowWasAhead(step);
  }
  DumpSeries::WriteDensity(this->Series.Paths()[2], 50);
  EXPECT_FALSE(this->ShowWasAhead(2, 50));
}

TEST_F(StepReading, ReadsAheadOnlyThePatchesWithTheValues)
{
  // The draft of a summary says that all values of a patch are its number. Surfaces run between patches, too.
  this->Wishes.Values = WantedValues{"density", {0, 0.1}};
  const auto patchesRead = [this](int step) {
    const std::unique_ptr<PatchUpdate> update = this->Read(step);
    this->Reader.Report(*this->Alone, *update);
    this->Reader.ReadAhead(*this->Alone, this->Wishes);
    return std::make_pair(update->Report().Ahead, update->Planned().Mine.size());
  };
  EXPECT_EQ(patchesRead(0), std::make_pair(0, std::size_t(2)));
  EXPECT_EQ(patchesRead(1), std::make_pair(0, std::size_t(2)));
  EXPECT_EQ(patchesRead(2), std::make_pair(1, std::size_t(2)));
  this->Wishes.Values->Range = {-1e9, 1e9};
  EXPECT_EQ(patchesRead(3), std::make_pair(0, std::size_t(3))) << "others than were read ahead";
  EXPECT_EQ(patchesRead(4), std::make_pair(1, std::size_t(3)));
}

TEST_F(StepReading, SaysWhyNothingIsReadAhead)
{
  const auto reason = HasSubstr("not read ahead: the memory limit leaves no room for another step");
  this->Wishes.MemoryLimit = 4500;  // one slab
  for (const int step : {0, 1}) {
    EXPECT_FALSE(this->ShowWasAhead(step));
    EXPECT_THAT(this->Reader.Reports().Text(), ::testing::Not(reason)) << "nobody knew what comes next";
  }
  EXPECT_FALSE(this->ShowWasAhead(2));
  EXPECT_THAT(this->Reader.Reports().Text(), reason);
  EXPECT_FALSE(this->ShowWasAhead(0));
  EXPECT_THAT(this->Reader.Reports().Text(), ::testing::Not(reason)) << "another step was to come";
  this->Wishes.MemoryLimit = 1 << 20;
  for (const int step : {1, 2}) {
    this->ShowWasAhead(step);
  }
  EXPECT_TRUE(this->ShowWasAhead(3));
  EXPECT_THAT(this->Reader.Reports().Text(), ::testing::Not(reason));
}

TEST_F(StepReading, IsStoppedAndReadsTheNextTime)
{
  for (const char* stage : {"Reading", "Locating"}) {
    this->Stop = stage;
    this->Told.clear();
    const std::unique_ptr<PatchUpdate> update = this->Read(3);
    EXPECT_TRUE(update->Stopped()) << stage;
    EXPECT_EQ(this->Told.back().rfind(stage, 0), 0u) << "went on to " << this->Told.back();
    this->Reader.Report(*this->Alone, *update);
    EXPECT_THAT(this->Reader.Reports().Json(), HasSubstr("\"cancelled\":true"));
    this->Stop.reset();
    EXPECT_FALSE(this->ShowWasAhead(3));
    EXPECT_THAT(this->Reader.Reports().Json(), HasSubstr("\"cancelled\":false"));
  }
}

TEST_F(StepReading, MakesNoIndexWhenStopped)
{
  this->Reader.Series().SetChannel(ChannelMode::On);
  this->Reader.Forget();
  this->Open();
  this->Stop = "Locating";
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(this->Read(2)->Stopped());
    EXPECT_EQ(this->Reader.Series().Step().Index(), nullptr);
    EXPECT_EQ(this->Reader.Series().Step().Origin(), "");
  }
  this->Stop.reset();
  this->ShowWasAhead(2);
  ASSERT_NE(this->Reader.Series().Step().Index(), nullptr);
  this->Stop = "Locating";
  EXPECT_FALSE(this->Read(2)->Stopped()) << "there is nothing to stop any more";
}

TEST_F(StepReading, ShowsWhatIsThereWhenStoppedAtTheNextStep)
{
  for (const ChannelMode mode : {ChannelMode::Off, ChannelMode::On}) {
    this->Reader.Series().SetChannel(mode);
    this->Reader.Forget();
    this->Open();
    this->ShowWasAhead(0);
    const std::unique_ptr<PatchUpdate> update = this->Read(1);
    DumpSeries::ExpectDensity(*update, 1);
    this->Reader.Report(*this->Alone, *update);
    this->Stop = "Locating";
    this->Reader.ReadAhead(*this->Alone, this->Wishes);
    this->Stop.reset();
    EXPECT_FALSE(this->ShowWasAhead(2));
    EXPECT_THAT(this->Reader.Reports().Text(),
        HasSubstr("not read ahead: finding out where its values lie was stopped"));
    EXPECT_TRUE(this->ShowWasAhead(3));
  }
}

TEST_F(StepReading, SaysWhatIsWrongWithTheWishes)
{
  this->Options.FirstLevel = this->Options.LastLevel = 7;
  EXPECT_TRUE(this->Read(0)->Planned().Mine.empty());
  EXPECT_THAT(this->Warnings, ElementsAre(HasSubstr("none of the 2 levels of this time step lies within")));
  this->Wishes.Values = WantedValues{"nothing", {}};
  EXPECT_THAT(testing::MessageOf([this] { this->Read(0); }), HasSubstr("there is no 'nothing'"));
}

TEST_F(StepReading, FailsForABrokenStepAndShowsTheOthers)
{
  for (const int step : {0, 1}) {
    this->ShowWasAhead(step);
  }
  std::filesystem::resize_file(testing::ClusterPath(this->Series.Paths()[2], 1), 100);
  EXPECT_THAT(testing::MessageOf([this] { this->Read(2); }), HasSubstr("partly broken"));
  EXPECT_FALSE(this->ShowWasAhead(3));
  this->Options.SkipBroken = true;
  const std::unique_ptr<PatchUpdate> update = this->Read(2);
  EXPECT_THAT(update->Warning(), HasSubstr("2 of 3 patches cannot be read and are left out"));
}

TEST_F(StepReading, SaysOnceThatSomethingIsBrokenThatIsNotShown)
{
  // The first patch is shown alone; the second cluster file, of the others, is cut.
  std::filesystem::resize_file(testing::ClusterPath(this->Series.Paths()[0], 1), 100);
  this->Reader.Forget();
  this->Reader.Series().SetChannel(ChannelMode::On);
  this->Open();
  this->Options.Region.Kind = RegionOfInterest::Shape::InBox;
  this->Options.Region.Lower = {10, -1, 0};
  this->Options.Region.Upper = {10.2, 0, 0};
  this->Wishes.StepsAhead = 0;
  this->Options.LastLevel = 0;
  const std::unique_ptr<PatchUpdate> update = this->Read(0);
  ASSERT_EQ(this->Warnings.size(), 1u);
  EXPECT_THAT(this->Warnings[0], HasSubstr("partly broken, though not what is shown"));
  EXPECT_THAT(this->Warnings[0], HasSubstr(testing::ClusterPath(this->Series.Paths()[0], 1)));
  this->Read(0);
  EXPECT_EQ(this->Warnings.size(), 1u);
}

}  // namespace patchio
