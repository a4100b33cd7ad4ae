#include "Read/CollectiveCalls.h"

#include "Base/Bytes.h"
#include "SamraiDraft.h"
#include "TestTools.h"

namespace patchio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One of two ranks, which run one after the other: rank 0's broadcasts are stored, and rank 1 receives them
/// later.
class TwoRanks : public Communicator
{
public:
  TwoRanks(int rank, std::vector<std::byte>& wire) : RankValue(rank), Wire(wire) {}
  int Rank() const override { return this->RankValue; }
  int Size() const override { return 2; }
  void Broadcast(std::vector<std::byte>& bytes) override
  {
    (this->RankValue == 0 ? this->Wire : bytes) = this->RankValue == 0 ? bytes : this->Wire;
  }
  std::vector<std::string> AllGather(const std::string& text) override { return {text, this->OtherText}; }
  std::vector<double> AllGather(const std::vector<double>& values) override { return values; }
  std::vector<int> AllGather(const std::vector<int>& values) override { return values; }

  std::string OtherText;

private:
  int RankValue;
  std::vector<std::byte>& Wire;
};

class CollectiveCalls : public ::testing::Test
{
protected:
  static std::vector<std::string> Gather(Communicator& ranks, const std::vector<std::string>& mine)
  {
    std::vector<LoadFault> faults;
    for (const std::string& text : mine) {
      faults.push_back({0, 0, text});
    }
    return GatherFaults(ranks, "", faults).Texts;
  }

  testing::TempFolder Folder;
  std::string Summary = testing::WriteDump(this->Folder.Path(), testing::SmallCatalog());
  std::vector<std::byte> Wire;
  TwoRanks Reader{0, this->Wire};
  TwoRanks Receiver{1, this->Wire};
};

}  // namespace

TEST_F(CollectiveCalls, ReachesRanksThatDoNotSeeTheFile)
{
  EXPECT_EQ(ReadCatalog(this->Reader, this->Summary).Step, 7);
  std::filesystem::remove(this->Summary);
  const Catalog received = ReadCatalog(this->Receiver, this->Summary);
  EXPECT_EQ(received.Step, 7);
  EXPECT_EQ(received.Patches.size(), 3u);
  EXPECT_EQ(received.Path, this->Summary);
}

TEST_F(CollectiveCalls, FailsAlikeOnAllRanks)
{
  std::filesystem::remove(this->Summary);
  const auto first = testing::MessageOf([this] { ReadCatalog(this->Reader, this->Summary); });
  const auto second = testing::MessageOf([this] { ReadCatalog(this->Receiver, this->Summary); });
  EXPECT_THAT(first, HasSubstr("No such file"));
  EXPECT_EQ(first, second);
}

TEST_F(CollectiveCalls, JoinsTheSeriesOfSeveralPaths)
{
  Catalog later = testing::SmallCatalog();
  later.Step = 8;
  later.Time = 0.5;
  const std::string second = testing::WriteDump(this->Folder / "more", later);
  OpenSeries(this->Reader, {this->Summary, second}, {});
  const Series series = OpenSeries(this->Receiver, {this->Summary, second}, {});
  ASSERT_EQ(series.Steps.size(), 2u);
  EXPECT_EQ(series.Steps[0].Step, 7);
  EXPECT_EQ(series.Steps[1].Path, second);
  EXPECT_EQ(series.Steps[1].Time, 0.5);
  EXPECT_THAT(series.Warnings, ::testing::IsEmpty());
}

TEST_F(CollectiveCalls, KnowsAPathHoweverItWasTyped)
{
  testing::WriteText(this->Folder / "dumps.visit",
      std::filesystem::path(this->Summary).lexically_relative(this->Folder.Path()).string() + "\n");
  const std::string index = this->Folder / "dumps.visit";
  const std::string beside = testing::IndexFileOf(index);
  testing::WriteText(beside, std::string(300, 'x'));
  for (const char* const end : {"", "/", "//", "/."}) {
    // The damaged index file shows that the step has this path.
    const Series series = OpenSeries(this->Reader, {index + end}, {}, IndexMode::ReadOnly);
    ASSERT_EQ(series.Steps.size(), 1u);
    EXPECT_EQ(series.Steps[0].Path, this->Summary);
    EXPECT_THAT(series.Warnings, ElementsAre(HasSubstr(beside))) << end;
  }
}

TEST_F(CollectiveCalls, RefusesFilesOfSeveralFormats)
{
  testing::WriteText(this->Folder / "a.ctl",
      "dset ^a\nundef 0\nxdef 1 linear 0 1\nydef 1 linear 0 1\nzdef 1 linear 0 1\n"
      "tdef 1 linear 1jan2000 1hr\nvars 1\nu 0 99 u\nendvars\n");
  testing::WriteText(this->Folder / "a", "1234");
  const std::string other = this->Folder / "a.ctl";
  const auto message = testing::MessageOf([&] { OpenSeries(this->Reader, {this->Summary, other}, {}); });
  EXPECT_THAT(message,
      ::testing::AllOf(::testing::StartsWith(other + ": expected the format SAMRAI of " + this->Summary),
          HasSubstr("found the format GrADS. All files of a series have the same format: open files of "
                    "different formats separately.")));
  EXPECT_EQ(OpenSeries(this->Reader, {other}, {}).Steps.size(), 1u);
}

TEST_F(CollectiveCalls, SaysOnceThatSeriesHaveAStepInCommon)
{
  const std::string second = testing::WriteDump(this->Folder / "more", testing::SmallCatalog());
  const Series series = OpenSeries(this->Reader, {this->Summary, second}, {});
  EXPECT_EQ(series.Steps.size(), 2u);
  EXPECT_THAT(
      series.Warnings, ElementsAre(::testing::AllOf(HasSubstr("one step in common"), HasSubstr(second))));
  const std::string third = testing::WriteDump(this->Folder / "most", testing::SmallCatalog());
  const Series three = OpenSeries(this->Reader, {this->Summary, second, third}, {});
  EXPECT_EQ(three.Steps.size(), 3u);
  EXPECT_THAT(three.Warnings, ElementsAre(HasSubstr("one step in common")));
}

TEST_F(CollectiveCalls, PassesOnWhatTheUserShouldKnow)
{
  testing::WriteText(this->Folder / "dumps.visit", "visit_dump.00001/summary.samrai\n");
  const Series opened = OpenSeries(this->Reader, {this->Folder / "dumps.visit"}, {});
  const Series received = OpenSeries(this->Receiver, {this->Folder / "dumps.visit"}, {});
  EXPECT_GT(opened.Notes.size() + opened.Warnings.size(), 0u);
  EXPECT_EQ(received.Notes, opened.Notes);
  EXPECT_EQ(received.Warnings, opened.Warnings);
}

TEST_F(CollectiveCalls, WarnsOnceOfWhatSeveralPathsBring)
{
  const std::string summary =
      std::filesystem::path(this->Summary).lexically_relative(this->Folder.Path()).string();
  for (const char* const index : {"one.visit", "two.visit"}) {
    testing::WriteText(this->Folder / index, summary + "\nvisit_dump.99999/summary.samrai\n");
  }
  const Series series =
      OpenSeries(this->Reader, {this->Folder / "one.visit", this->Folder / "two.visit"}, {});
  EXPECT_EQ(series.Steps.size(), 1u);
  EXPECT_THAT(series.Warnings, ElementsAre(HasSubstr("visit_dump.99999")));
}

TEST_F(CollectiveCalls, GathersEachFaultOnceInRankOrder)
{
  this->Reader.OtherText = JoinTexts({"c", "a", "d"});
  EXPECT_THAT(Gather(this->Reader, {"a", "", "b", "a"}), ElementsAre("a", "b", "c", "d"));
  this->Reader.OtherText.clear();
  EXPECT_TRUE(Gather(this->Reader, {"", ""}).empty());
}

TEST_F(CollectiveCalls, GathersAHandfulOfFaultsARank)
{
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back("fault " + std::to_string(i));
  }
  const std::vector<std::string> gathered = Gather(this->Reader, many);
  EXPECT_EQ(gathered.size(), 8u);
  EXPECT_EQ(gathered.front(), "fault 0");
}

}  // namespace patchio
