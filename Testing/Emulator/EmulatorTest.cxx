#include "Emulator.h"

#include "TestTools.h"

#include <nlohmann/json.hpp>

#include <map>
#include <thread>

namespace patchio::emulator {
namespace {

Settings Fast()
{
  Settings settings;
  settings.Storage.Latency = 0;
  settings.Storage.Stream = 1e12;
  settings.MetadataLatency = 0;
  return settings;
}

nlohmann::json ReportOf(Emulator& emulator)
{
  return nlohmann::json::parse(emulator.Report());
}

std::string Refusal(Emulator& emulator, const std::string& line)
{
  return testing::MessageOf([&] { emulator.Command(line); });
}

}  // namespace

TEST(Emulator, CountsRequestsUntilReset)
{
  Emulator emulator(Fast());
  emulator.OpenFile();
  emulator.Read(100).Await();
  emulator.Read(23).Await();
  emulator.Written(7);
  emulator.Metadata();
  const std::map<std::string, int> expected{{"opens", 1}, {"reads", 2}, {"read_bytes", 123}, {"writes", 1},
      {"written_bytes", 7}, {"metadata_requests", 2}, {"most_in_flight", 1}, {"in_flight", 0}};
  const nlohmann::json counted = ReportOf(emulator);
  emulator.Command("reset");
  const nlohmann::json after = ReportOf(emulator);
  for (const auto& [counter, count] : expected) {
    EXPECT_EQ(counted[counter], count) << counter;
    EXPECT_EQ(after[counter], 0) << counter;
  }
}

TEST(Emulator, TakesCommands)
{
  Emulator emulator(Fast());
  emulator.Command("load 32");
  EXPECT_EQ(ReportOf(emulator)["load"], 32);
  emulator.Command("set latency 2.5");
  emulator.Command("set stream 40");
  emulator.Command("set concurrency 64");
  emulator.Command("set total 800");
  emulator.Command("set contention 1");
  emulator.Command("set metadata_latency 3");
  const nlohmann::json settings = ReportOf(emulator)["settings"];
  EXPECT_DOUBLE_EQ(settings["latency"], 2.5);
  EXPECT_DOUBLE_EQ(settings["stream"], 40);
  EXPECT_EQ(settings["concurrency"], 64);
  EXPECT_DOUBLE_EQ(settings["total"], 800);
  EXPECT_DOUBLE_EQ(settings["contention"], 1);
  EXPECT_DOUBLE_EQ(settings["metadata_latency"], 3);
}

TEST(Emulator, TakesFaultCommands)
{
  Emulator emulator(Fast());
  emulator.Command("fault 'with blank*' eio --after 1");
  emulator.Command("fault *.h5 stall --seconds 0.001");
  EXPECT_FALSE(emulator.PrepareRead("another.bin")) << "other files do not count";
  EXPECT_FALSE(emulator.PrepareRead("with blank.bin"));
  EXPECT_TRUE(emulator.PrepareRead("with blank.bin"));
  EXPECT_FALSE(emulator.PrepareRead("x.h5"));
  EXPECT_EQ(ReportOf(emulator)["faults_given"], 2);
  emulator.Command("heal *.h5");
  emulator.PrepareRead("x.h5");
  EXPECT_EQ(ReportOf(emulator)["faults_given"], 2);
  EXPECT_TRUE(emulator.PrepareRead("with blank.bin"));
  emulator.Command("heal");
  EXPECT_FALSE(emulator.PrepareRead("with blank.bin"));
}

TEST(Emulator, RefusesCommandsThatItDoesNotKnow)
{
  Emulator emulator(Fast());
  EXPECT_THAT(Refusal(emulator, "dance"), ::testing::HasSubstr("dance"));
  EXPECT_THAT(Refusal(emulator, ""), ::testing::HasSubstr("does not understand"));
  EXPECT_THAT(Refusal(emulator, "load many"), ::testing::HasSubstr("many"));
  EXPECT_THAT(Refusal(emulator, "load -3"), ::testing::HasSubstr("0 or more"));
  EXPECT_THAT(Refusal(emulator, "fault a melts"), ::testing::HasSubstr("melts"));
  EXPECT_THAT(Refusal(emulator, "fault a stall --seconds -1"), ::testing::HasSubstr("between 0 and 1000000"));
  EXPECT_THAT(Refusal(emulator, "set colour 1"), ::testing::HasSubstr("colour"));
  EXPECT_THAT(Refusal(emulator, "set stream 0"), ::testing::HasSubstr("one request"));
  EXPECT_EQ(ReportOf(emulator)["last_error"], Refusal(emulator, "set stream 0"));
  emulator.Command("reset");
  EXPECT_EQ(ReportOf(emulator)["last_error"], "");
}

TEST(Emulator, LetsEveryoneGoWhenStopped)
{
  Settings slow = Fast();
  slow.Storage.Latency = 1e5;
  slow.MetadataLatency = 1e5;
  Emulator emulator(slow);
  std::vector<std::thread> waiting;
  for (int thread = 0; thread < 4; ++thread) {
    waiting.emplace_back([&emulator] { emulator.Read(1).Await(); });
    waiting.emplace_back([&emulator] { emulator.Metadata(); });
  }
  while (ReportOf(emulator)["in_flight"] < 4) {
    std::this_thread::yield();
  }
  emulator.Stop();
  for (std::thread& thread : waiting) {
    thread.join();
  }
  emulator.Read(1).Await();
}

TEST(Emulator, ServesManyThreadsPastItsConcurrency)
{
  Settings settings = Fast();
  settings.Storage.Latency = 1e-5;
  settings.Storage.Concurrency = 2;
  Emulator emulator(settings);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&emulator] {
      for (int request = 0; request < 100; ++request) {
        emulator.Read(request).Await();
      }
    });
  }
  for (int change = 0; change < 100; ++change) {
    emulator.Command("load " + std::to_string(change % 7));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const nlohmann::json report = ReportOf(emulator);
  EXPECT_EQ(report["reads"], 1600);
  EXPECT_EQ(report["read_bytes"], 16 * 4950);
  EXPECT_EQ(report["in_flight"], 0);
}

}  // namespace patchio::emulator
