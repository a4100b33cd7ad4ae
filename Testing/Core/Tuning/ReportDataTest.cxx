#include "Tuning/IoReport.h"

#include "TestTools.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace patchio {
namespace {

using Json = nlohmann::json;

ReportData Example()
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
  ReportData data = Example();
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
  ReportData data = Example();
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

TEST(ReportData, OfAnUnknownStorageHasNoCurve)
{
  const Json storage = Json::parse(Example().Json())["storage"];
  EXPECT_EQ(storage["best_concurrency"], 0);
  EXPECT_TRUE(storage["curve"].empty());
  EXPECT_TRUE(storage["samples"].empty());
}

TEST(ReportData, RemembersTheLastReads)
{
  ReportData data = Example();
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
  ReportData data = Example();
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
  ReportData data = Example();
  data.File = "/data/\xff\xfe \"run\"\n";
  data.Last.Notes = {"\xc3"};
  data.Time = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Json::accept(data.Json()));
}

}  // namespace patchio
