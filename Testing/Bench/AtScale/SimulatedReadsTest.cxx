// Compares the simulation with times that can be calculated by hand.
#include "Commands.h"
#include "CountingCommunicator.h"
#include "MadeUpStep.h"
#include "SimulatedReads.h"

#include "Base/Communicator.h"
#include "TestTools.h"

#include <fmt/format.h>

#include <cmath>

namespace patchio::atscale {
namespace {

constexpr std::uint64_t Megabyte = 1'000'000;
constexpr double Service = 0.022;  ///< seconds of a single request for a megabyte

emulator::Model Storage(int concurrency, double contention = 0)
{
  emulator::Model model;
  model.Latency = 0.002;
  model.Stream = 50e6;
  model.Concurrency = concurrency;
  model.Contention = contention;
  return model;
}

std::vector<RankReads> Alike(int rankCount, int requests, int threads)
{
  return std::vector<RankReads>(rankCount, {std::vector<std::uint64_t>(requests, Megabyte), threads});
}

double SecondsOf(const emulator::Model& storage, const std::vector<RankReads>& ranks, int load = 0)
{
  return SimulateRead(storage, load, ranks);
}

}  // namespace

TEST(SimulatedReads, TakeAsManyRoundsAsAThreadHasRequests)
{
  EXPECT_NEAR(SecondsOf(Storage(1000), Alike(16, 12, 1)), 12 * Service, 1e-9);
  EXPECT_NEAR(SecondsOf(Storage(1000), Alike(16, 12, 4)), 3 * Service, 1e-9);
  EXPECT_NEAR(SecondsOf(Storage(1000), Alike(16, 12, 5)), 3 * Service, 1e-9) << "the last round has two";
  EXPECT_NEAR(SecondsOf(Storage(1000), Alike(16, 12, 64)), Service, 1e-9);
}

TEST(SimulatedReads, TakeTheTimeOfAllBytesWhereFIsConstant)
{
  // N* = 1 without contention: F(N) is a megabyte in 22 ms for each N.
  for (const int threads : {1, 3, 12}) {
    EXPECT_NEAR(SecondsOf(Storage(1), Alike(7, 12, threads)), 7 * 12 * Service, 1e-8) << threads;
  }
  // Others with the same number of requests in flight get half of the rate.
  EXPECT_NEAR(SecondsOf(Storage(1), Alike(7, 1, 1), 7), 2 * 7 * Service, 1e-9);
}

TEST(SimulatedReads, WaitForTheRankThatHasMost)
{
  std::vector<RankReads> ranks = Alike(4, 3, 1);
  ranks[2].Requests.resize(5, Megabyte);
  EXPECT_NEAR(SecondsOf(Storage(1000), ranks), 5 * Service, 1e-9);
  EXPECT_EQ(SecondsOf(Storage(1), {}), 0);
}

TEST(SimulatedReads, AreAdaptedToTheBestConcurrency)
{
  ControllerOptions options;
  options.Granularity = options.Least = options.Start = 32;
  options.Most = 32 * 64;
  ThreadController controller(options);
  const emulator::Model storage = Storage(256, 0.5);
  const AdaptedOutcome outcome = SimulateAdaptedRead(storage, 0, Megabyte, 60, controller);
  EXPECT_GE(outcome.Rate, 0.9 * storage.Rate(256, 0, Megabyte));
  EXPECT_LE(outcome.Rate, 1.001 * storage.Rate(256, 0, Megabyte));
  EXPECT_EQ(outcome.Threads % 32, 0);
}

TEST(MadeUpStep, HasAsManyPatchesAsAskedForSideBySide)
{
  const Catalog catalog = bench::CubeOfPatches(1274, 16);
  ASSERT_EQ(catalog.Patches.size(), 1274u);
  EXPECT_EQ(catalog.PresenceOf(0, 1273), Presence::Stored);
  const LocationTable table = bench::LocationsOf(catalog, {{3, 0}, {5, 0}}, 1000);
  ASSERT_EQ(table.ByteRanges.size(), 2u);
  EXPECT_EQ(table.ByteRanges[0].Offset, 3000u);
  EXPECT_EQ(table.ByteRanges[1].Bytes, 1000u);
}

TEST(CountingCommunicator, CountsCallsMessagesAndBytes)
{
  CountingCommunicator ranks(1024);
  std::vector<std::byte> bytes(100);
  ranks.Broadcast(bytes);
  EXPECT_EQ(ranks.Count().Calls, 1u);
  EXPECT_EQ(ranks.Count().Messages, 3 * 10u) << "binomial trees for the length and the bytes, and a sum";
  EXPECT_EQ(ranks.Count().Received, 8 + 10u * 4 + 100);
  EXPECT_EQ(ranks.AllGather(std::vector<int>{7}).size(), 1024u);
  EXPECT_EQ(ranks.Count().Received, 148 + 1023u * (8 + 4)) << "lengths, then values";
  EXPECT_EQ(ranks.Max({3, -3}), (std::vector<double>{3, -3}));
}

/// The cost of collective calls without faults must not grow in proportion to the ranks.
TEST(CountingCommunicator, FindsThatAgreementsGrowLikeTheLogarithm)
{
  for (const int size : {128, 4096}) {
    CountingCommunicator ranks(size);
    RunOnAllRanks(ranks, [] {});
    EXPECT_TRUE(AllOf(ranks, true));
    const auto rounds = static_cast<std::uint64_t>(std::log2(size));
    EXPECT_EQ(ranks.Count().Messages, 2 * rounds) << size;
    EXPECT_LE(ranks.Count().Received, 2 * rounds * sizeof(double)) << size;
  }
}

/// One byte from each other rank would exceed this.
TEST(CountingCommunicator, FindsThatReadsReceiveHardlyMoreWithMoreRanks)
{
  constexpr int few = 128, many = 65536;
  nlohmann::json found;
  CLI::App program;
  AddAgreeing(program, [&](const nlohmann::json& costs) { found = costs; });
  program.parse(fmt::format(
      "agree {}/linadv_2d/visit_dump.00000/summary.samrai --ranks {},{}", PATCHIO_OWN_DATA, few, many));
  for (const char* const read : {"again", "automatic"}) {
    const auto received = [&](int rankCount) {
      return found[std::to_string(rankCount)][read]["received"].get<int>();
    };
    EXPECT_LT(received(many) - received(few), many - few) << read;
    EXPECT_GT(received(many), 0) << read;
  }
}

}  // namespace patchio::atscale
