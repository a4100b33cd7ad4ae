#include "Tuning/IoReport.h"

#include "Base/Bytes.h"
#include "TestTools.h"

namespace patchio {
namespace {

using ::testing::HasSubstr;

/// Rank 0 of several ranks. The test sets the numbers and the notes of the other ranks.
class FakeCommunicator : public Communicator
{
public:
  explicit FakeCommunicator(std::vector<std::vector<double>> others) : Others(std::move(others)) {}
  int Rank() const override { return 0; }
  int Size() const override { return static_cast<int>(this->Others.size()) + 1; }
  void Broadcast(std::vector<std::byte>&) override {}
  std::vector<std::string> AllGather(const std::string& mine) override
  {
    return {mine, JoinTexts(this->OtherNotes), JoinTexts(this->OtherNotes)};
  }
  std::vector<int> AllGather(const std::vector<int>&) override { return {}; }
  std::vector<double> AllGather(const std::vector<double>& mine) override
  {
    std::vector<double> all = mine;
    for (const std::vector<double>& other : this->Others) {
      // The other ranks contribute 0 to other calls, such as that for moments, and 1 to whether they have
      // notes that this rank lacks.
      all.insert(all.end(), mine.size(), mine.size() == 1 ? !this->OtherNotes.empty() : 0);
      if (other.size() == mine.size()) {
        const auto theirs =
            std::copy(other.begin(), other.end(), all.end() - static_cast<std::ptrdiff_t>(mine.size()));
        theirs[-static_cast<std::ptrdiff_t>(mine.size())] *=
            mine[0] < 0 ? -1 : 1;  // negative numbers request the minimum
      }
    }
    return all;
  }

  std::vector<std::string> OtherNotes;

private:
  std::vector<std::vector<double>> Others;
};

IoReport Example()
{
  IoReport report;
  report.ThreadsMin = report.ThreadsMax = 4;
  report.Patches = 10;
  report.Blocks = 5;
  report.Tasks = 20;
  report.Requests = 30;
  report.Bytes = 5'000'000;
  report.CachedArrays = 6;
  report.CachedBytes = 8'000'000;
  report.PeakInFlight = 4;
  report.ArenaWidth = 8;
  report.OpenSeconds = 1;
  report.LocateSeconds = 2;
  report.ReadSeconds = 0.5;
  report.StorageSeconds = 1.5;
  report.DecodeSeconds = 0.5;
  report.AssembleSeconds = 4;
  return report;
}

}  // namespace

TEST(IoReport, DividesBytesByReadTime)
{
  EXPECT_DOUBLE_EQ(Example().MegabytesPerSecond(), 10);
  EXPECT_EQ(IoReport().MegabytesPerSecond(), 0);
}

TEST(IoReport, DividesReadTimeIntoWaitingAndDecoding)
{
  EXPECT_DOUBLE_EQ(Example().DecodeWallSeconds(), 0.5 * 0.5 / 2);
  EXPECT_EQ(IoReport().DecodeWallSeconds(), 0);
}

TEST(IoReport, AddsAndComparesOverTheRanks)
{
  IoReport mine = Example();
  mine.Notes = {"mine", "3 arrays", "4 arrays"};
  FakeCommunicator comm({{2, 3, 100, 200, 300, 6e9, 3, 0.5, 9, 2, 1, 40, 6, 2, 1, 5e9, 0.25, 50, 7e9, 5},
      {5, 6, 1, 2, 3, 4, 6, 3, 1, 0.25, 8, 2, 1, 1, 1, 3, 0.5, 1, 2, 6}});
  comm.OtherNotes = {"15 arrays", "theirs"};
  const IoReport total = CombineOverRanks(mine, comm);
  EXPECT_EQ(total.Ranks, 3);
  EXPECT_EQ(total.ThreadsMin, 2);
  EXPECT_EQ(total.ThreadsMax, 6);
  EXPECT_EQ(total.Patches, 111u);
  EXPECT_EQ(total.Blocks, 47u);
  EXPECT_EQ(total.Tasks, 222u);
  EXPECT_EQ(total.Requests, 333u);
  EXPECT_EQ(total.Bytes, 6'005'000'004u);
  EXPECT_EQ(total.CachedArrays, 57u);
  EXPECT_EQ(total.CachedBytes, 7'008'000'002u);
  EXPECT_EQ(total.PeakInFlight, 13);
  EXPECT_EQ(total.ArenaWidth, 19);
  EXPECT_EQ(total.Prefetches, 2);
  EXPECT_EQ(total.PrefetchedBytes, 5'000'000'003u);
  EXPECT_EQ(total.WaitSeconds, 0.5);
  EXPECT_EQ(total.OpenSeconds, 3);
  EXPECT_EQ(total.LocateSeconds, 9);
  EXPECT_EQ(total.ReadSeconds, 2);
  EXPECT_EQ(total.AssembleSeconds, 8);
  EXPECT_EQ(total.StorageSeconds, 8.5);
  EXPECT_EQ(total.DecodeSeconds, 3.5);
  EXPECT_EQ(total.Notes, (std::vector<std::string>{"mine", "3 arrays", "4 arrays", "theirs"}));
}

TEST(IoReport, OfOneProcessStaysAsItIs)
{
  const auto comm = MakeSelfCommunicator();
  EXPECT_EQ(CombineOverRanks(Example(), *comm).Text(), Example().Text());
}

TEST(IoReport, SaysAllNumbersInPlainText)
{
  IoReport report = Example();
  report.Ranks = 2;
  report.ThreadsMax = 7;
  report.Notes = {"left out a dump"};
  const std::string text = report.Text();
  for (const char* line : {"Ranks: 2\n", "Threads per rank (NT): 4 to 7\n", "Patches: 10\n", "Blocks: 5\n",
           "Read tasks: 20, in TBB arenas with 8 slots\n", "Bytes read: 5.00 MB in 30 requests\n",
           "From the cache: 8.00 MB in 6 arrays\n", "Maximum reads in flight: 4\n",
           "Seconds: open 1.000, locate 2.000, read 0.500, assemble 4.000\n", "Read rate: 10 MB/s\n",
           "Note: left out a dump\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  report.Bytes = 0;
  EXPECT_THAT(report.Text(), ::testing::Not(HasSubstr("Read rate"))) << "all was in the cache";
}

TEST(IoReport, SaysWhereTheMetadataCameFromWhenItKnows)
{
  IoReport report = Example();
  EXPECT_THAT(report.Text(), ::testing::Not(HasSubstr("Metadata")));
  report.Metadata = "from the index file x";
  EXPECT_THAT(report.Text(), HasSubstr("Metadata: from the index file x\n"));
}

TEST(IoReport, ChoosesAFittingUnit)
{
  IoReport report = Example();
  report.Bytes = 1500;
  EXPECT_THAT(report.Text(), HasSubstr("1.50 kB"));
  report.Bytes = 106'000'000'000;
  EXPECT_THAT(report.Text(), HasSubstr("106 GB"));
  report.ThreadsMax = report.ThreadsMin;
  EXPECT_THAT(report.Text(), HasSubstr("(NT): 4\n"));
}

TEST(IoReport, SaysWhatWasReadAheadWhereSomethingWas)
{
  IoReport report = Example();
  EXPECT_THAT(report.Text(), ::testing::Not(HasSubstr("Read ahead")));
  report.Prefetches = 1;
  report.PrefetchedBytes = 4'000'000;
  report.WaitSeconds = 0.0125;
  EXPECT_THAT(report.Text(), HasSubstr("Read ahead: 4.00 MB of 5.00 MB, then waited 0.013 s for the rest\n"));
  report.Bytes = report.PrefetchedBytes = 0;  // all values came from the cache
  EXPECT_THAT(report.Text(), ::testing::Not(HasSubstr("Read ahead")));
}

}  // namespace patchio
