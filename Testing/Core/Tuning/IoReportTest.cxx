#include "Tuning/IoReport.h"

#include "Base/Bytes.h"
#include "TestTools.h"

#include <nlohmann/json.hpp>

#include <limits>

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

TEST(IoReport, DividesBytesAndDecodingByReadTime)
{
  EXPECT_DOUBLE_EQ(Example().MegabytesPerSecond(), 10);
  EXPECT_EQ(IoReport().MegabytesPerSecond(), 0);
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
  EXPECT_THAT(report.Text(), ::testing::Not(HasSubstr("Metadata")));
  report.Metadata = "from the index file x";
  EXPECT_THAT(report.Text(), HasSubstr("Metadata: from the index file x\n"));
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

TEST(ProgressText, SaysHowFarHowFastAndHowLong)
{
  EXPECT_EQ(ReadingText(1.2e9, 4.8e9, 850e6), "Reading 1.2 of 4.8 GB, 850 MB/s, 5 s left");
  EXPECT_EQ(ReadingText(2e6, 10e6, 4e6), "Reading 2.0 of 10.0 MB, 4.0 MB/s, 2 s left");
  EXPECT_EQ(ReadingText(10e9, 250e9, 2e9), "Reading 10 of 250 GB, 2.0 GB/s, 2 min left");
  EXPECT_EQ(ReadingText(1e12, 20e12, 1e9), "Reading 1.0 of 20.0 TB, 1.0 GB/s, 5.3 h left");
  EXPECT_LT(ReadingText(999.9e12, 99999e12, 99.9e6).size(), 100u) << "it fits into a status bar";
}

TEST(ProgressText, SaysNothingOfTimeBeforeTheFirstByte)
{
  EXPECT_EQ(ReadingText(0, 4.8e9, 0), "Reading 0.0 of 4.8 GB");
  EXPECT_EQ(ReadingText(0, 0, 0), "Reading");
}

TEST(ProgressText, SaysNoTimeWhenAllBytesHaveCome)
{
  EXPECT_EQ(ReadingText(380e3, 380e3, 7e6), "Reading 380 of 380 kB, decoding");
  // Bytes of gaps may count among the bytes read, but not among the bytes to read.
  EXPECT_EQ(ReadingText(600, 512, 1000), "Reading 512 of 512 bytes, decoding");
  EXPECT_EQ(ReadingText(379.9e3, 380e3, 7e6), "Reading 379 of 380 kB, 7.0 MB/s, 1 s left");
  EXPECT_EQ(ReadingText(4.79e9, 4.8e9, 850e6), "Reading 4.7 of 4.8 GB, 850 MB/s, 1 s left");
}

TEST(ProgressText, AgreesWithTheBar)
{
  EXPECT_DOUBLE_EQ(ReadingFraction(190e3, 380e3, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(ReadingFraction(600, 512, 0.1), 1);
  EXPECT_DOUBLE_EQ(ReadingFraction(0, 380e3, 0.1), 0);
  EXPECT_DOUBLE_EQ(ReadingFraction(0, 0, 0.1), 0.1) << "no bytes are known";
}

namespace {

using Json = nlohmann::json;

ReportData ExampleOfData()
{
  ReportData data;
  data.File = "/data/run/summary.samrai";
  data.Time = 0.25;
  data.Last.Ranks = 2;
  data.Last.ThreadsMin = 3;
  data.Last.ThreadsMax = 4;
  data.Last.Bytes = 6'000'000'000;
  data.Last.Requests = 30;
  data.Last.OpenSeconds = 0.5;
  data.Date = "2017-02-27 18:00";
  data.Last.LocateSeconds = 0.25;
  data.Last.ReadSeconds = 2;
  data.Last.StorageSeconds = 12;
  data.Last.DecodeSeconds = 4;
  data.Last.AssembleSeconds = 0.125;
  data.Last.Timeline = {{0, 0, 0}, {1, 4e9, 8}, {2, 6e9, 0}};
  data.Threads = {{0, 8}, {1.5, 6}};
  return data;
}

}  // namespace

TEST(ReportData, SaysAllNumbersAsJson)
{
  ReportData data = ExampleOfData();
  data.AppendPastRead();
  const Json json = Json::parse(data.Json());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["file"], "/data/run/summary.samrai");
  EXPECT_EQ(json["time"], 0.25);
  EXPECT_EQ(json["date"], "2017-02-27 18:00");
  EXPECT_EQ(json["cancelled"], false);
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["threads_of_rank"], Json::array({3, 4}));
  EXPECT_EQ(json["bytes"], 6'000'000'000);
  EXPECT_EQ(json["in_flight"], 6);
  EXPECT_EQ(json["request_seconds"], 0.4);
  EXPECT_EQ(json["seconds"],
      Json({{"open", 0.5}, {"locate", 0.25}, {"read", 1.5}, {"decode", 0.5}, {"assemble", 0.125}}));
  EXPECT_EQ(json["moments"]["seconds"], Json::array({0, 1, 2}));
  EXPECT_EQ(json["moments"]["bytes"], Json::array({0, 4e9, 6e9}));
  EXPECT_EQ(json["moments"]["in_flight"], Json::array({0, 8, 0}));
  EXPECT_EQ(json["threads"], Json::parse("[[0.0, 8], [1.5, 6]]"));
}

TEST(ReportData, HasTheCurveOfTheStorage)
{
  ReportData data = ExampleOfData();
  const Json unknown = Json::parse(data.Json())["storage"];
  EXPECT_EQ(unknown["best_concurrency"], 0);
  EXPECT_TRUE(unknown["curve"].empty());
  EXPECT_TRUE(unknown["samples"].empty());
  for (const int n : {1, 2, 4, 8, 16, 32}) {
    data.Storage.Samples.push_back({n, n <= 8 ? n * 1e8 : 8e8, 0});
  }
  data.Storage.Fit = FitRates(data.Storage.Samples);
  data.Storage.Concurrency = 8;
  data.Storage.Load = 2;
  const Json storage = Json::parse(data.Json())["storage"];
  EXPECT_EQ(storage["best_concurrency"], 8);
  EXPECT_EQ(storage["load"], 2);
  EXPECT_EQ(storage["samples"].size(), 6u);
  EXPECT_EQ(storage["samples"][1], Json::array({2, 2e8}));
  double last = 0;
  for (const Json& point : storage["curve"]) {
    const double n = point[0];
    EXPECT_GT(n, last);
    // Beyond the samples, the fit is an extrapolation.
    if (n <= 32) {
      EXPECT_NEAR(double(point[1]), n <= 8 ? n * 1e8 : 8e8, 0.25 * 8e8) << n;
    }
    last = n;
  }
  EXPECT_NEAR(last, 64, 1e-6);
}

TEST(ReportData, RemembersTheLastReads)
{
  ReportData data = ExampleOfData();
  for (int i = 0; i < 60; ++i) {
    data.Time = i;
    data.Cancelled = i == 58;
    data.AppendPastRead();
  }
  const Json past = Json::parse(data.Json())["past"];
  ASSERT_EQ(past.size(), ReportData::MostPastReads);
  EXPECT_EQ(past.front()["time"], 10);
  EXPECT_EQ(past.back()["time"], 59);
  EXPECT_EQ(past.back()["cancelled"], false);
  EXPECT_EQ(past[48]["cancelled"], true);
  EXPECT_EQ(past.back()["bytes"], 6e9);
  EXPECT_EQ(past.back()["in_flight"], 6);
  EXPECT_EQ(past.back()["seconds"]["read"], 1.5);
}

TEST(ReportData, SaysOfACancelledReadHowFarItCame)
{
  ReportData data = ExampleOfData();
  EXPECT_EQ(data.Text(), "Date: 2017-02-27 18:00\n" + data.Last.Text());
  data.Cancelled = true;
  data.BytesToRead = 8e9;
  EXPECT_THAT(data.Text(), ::testing::StartsWith("Cancelled after 2.0 s: 6.00 GB of 8.00 GB read from "
                                                 "/data/run/summary.samrai\n"));
  // The value is not known until all ranks have sent it.
  data.BytesToRead = 0;
  EXPECT_THAT(data.Text(), ::testing::HasSubstr("6.00 GB of 6.00 GB"));
  EXPECT_EQ(Json::parse(data.Json())["wanted_bytes"], 6e9);
  data.Last.Bytes = 0;
  EXPECT_THAT(data.Text(), ::testing::HasSubstr("s: 0 bytes read from /data/"));
  EXPECT_EQ(Json::parse(data.Json())["wanted_bytes"], 0);
}

TEST(ReportData, IsSoundJsonWhateverTheNames)
{
  ReportData data = ExampleOfData();
  data.File = "/data/\xff\xfe \"run\"\n";
  data.Last.Notes = {"\xc3"};
  data.Time = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Json::accept(data.Json()));
}

}  // namespace patchio
