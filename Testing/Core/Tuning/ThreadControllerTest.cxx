#include "Tuning/ThreadController.h"

#include "FakeSource.h"
#include "Io/IoScheduler.h"
#include "SimulatedStorage.h"
#include "TestTools.h"

#include <cmath>
#include <limits>

namespace patchio {
namespace {

using testing::Scenario;
using testing::ShareAtLeast;
using testing::SimulateReads;

// Reads of 60 s, 8 % noise, 200 for each scenario. No other test uses the seed. Results are the same on each
// machine except for rounding errors, which may move one or two reads across the limit.
constexpr std::uint64_t Seed = 1;

double Share(Scenario scenario, const testing::DeciderMaker& decider)
{
  return ShareAtLeast(SimulateReads(scenario, 60, 200, Seed, decider), 0.95);
}

TEST(ThreadController, IsNearTheBestFixedNumber)
{
  struct Case
  {
    const char* Name;
    Scenario Kind;
    double LeastShare, MostOfFixedNumber;
  };
  for (const Case& c : {Case{"right profile", Scenario::ProfileRight, 0.95, 1},
           Case{"profile four times wrong", Scenario::ProfileWrong, 0.93, 0.2},
           Case{"others come and go", Scenario::LoadSteps, 0.88, 0.8},
           Case{"no profile", Scenario::NoProfile, 0.9, 1}}) {
    EXPECT_LE(Share(c.Kind, testing::FixedDecider), c.MostOfFixedNumber) << "no task where " << c.Name;
    EXPECT_GE(Share(c.Kind, testing::ControlledDecider), c.LeastShare) << c.Name;
  }
}

ControllerOptions StartingAt(int threads)
{
  ControllerOptions options;
  options.Start = threads;
  return options;
}

/// Simulates windows of a storage without noise. Returns the last N.
int Settled(const ControllerOptions& options, const testing::RateLaw& law, int windows)
{
  ThreadController controller(options);
  for (int i = 0; i < windows; ++i) {
    controller.Observe(law(controller.Threads()), controller.Threads());
  }
  return controller.BestSoFar();
}

TEST(ThreadController, SettlesOnFewerThreadsWhereMoreBringNothing)
{
  // From N = 6 on, all rates are equal except for noise.
  testing::Dice dice(1);
  const testing::RateLaw level = testing::EmulatorLaw(6, 0);
  const auto noisy = [&](double threads) { return level(threads) * std::exp(0.08 * dice.Normal()); };
  EXPECT_LE(Settled(StartingAt(64), noisy, 100), 48);
}

TEST(ThreadController, FindsASharpPeak)
{
  for (const int start : {2, 16, 200}) {
    const int settled = Settled(StartingAt(start), testing::EmulatorLaw(24, 0.5), 120);
    EXPECT_GE(settled, 22) << start;
    EXPECT_LE(settled, 27) << start;
  }
}

TEST(ThreadController, KeepsToItsBoundsAndToMultiples)
{
  ControllerOptions options = StartingAt(37);
  options.Least = 10;
  options.Most = 90;
  options.Granularity = 8;
  ThreadController controller(options);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(controller.Threads() % 8, 0);
    EXPECT_GE(controller.Threads(), 16);
    EXPECT_LE(controller.Threads(), 88);
    controller.Observe(1e6 * controller.Threads() * (1 + 0.1 * (i % 3)), controller.Threads());
  }
}

TEST(ThreadController, BearsBoundsThatMakeNoSense)
{
  for (const auto& [start, least, most, unit] : std::vector<std::array<int, 4>>{
           {8, 4, 4, 1}, {100, 1, 2, 1}, {-5, -9, -3, -1}, {1, 50, 20, 7}, {8, 1, 4, 16}}) {
    ControllerOptions options = StartingAt(start);
    options.Least = least;
    options.Most = most;
    options.Granularity = unit;
    ThreadController controller(options);
    for (int i = 0; i < 20; ++i) {
      ASSERT_GE(controller.Threads(), 1);
      controller.Observe(1e6 + i, controller.Threads());
    }
  }
}

TEST(ThreadController, PassesOverRatesThatMakeNoSense)
{
  ThreadController odd(StartingAt(20));
  ThreadController plain(StartingAt(20));
  const testing::RateLaw law = testing::EmulatorLaw(24, 0.5);
  for (int i = 0; i < 60; ++i) {
    odd.Observe(std::numeric_limits<double>::quiet_NaN(), 5);
    odd.Observe(std::numeric_limits<double>::infinity(), 5);
    odd.Observe(-1, 5);
    odd.Observe(1e6, 0);
    odd.Observe(law(odd.Threads()), odd.Threads());
    plain.Observe(law(plain.Threads()), plain.Threads());
    ASSERT_EQ(odd.Threads(), plain.Threads());
  }
  EXPECT_EQ(odd.History().size(), plain.History().size());
}

TEST(ThreadController, SurvivesAnAccident)
{
  ThreadController controller(StartingAt(24));
  const testing::RateLaw law = testing::EmulatorLaw(24, 0.5);
  for (int i = 0; i < 100; ++i) {
    const double accident = i == 40 ? 10 : i == 60 ? 0 : i == 80 ? 0.05 : 1;
    controller.Observe(law(controller.Threads()) * accident, controller.Threads());
  }
  EXPECT_GE(controller.BestSoFar(), 20);
  EXPECT_LE(controller.BestSoFar(), 29);
}

TEST(ThreadController, TellsWhatItHasTried)
{
  ThreadController controller(StartingAt(16));
  controller.Observe(100, 16);
  controller.Observe(300, 16);
  ASSERT_EQ(controller.History().size(), 1u);
  EXPECT_EQ(controller.History()[0].Threads, 16);
  EXPECT_EQ(controller.History()[0].Rate, 200);
  EXPECT_EQ(controller.History()[0].WindowCount, 2);
  EXPECT_EQ(controller.History()[0].Epoch, 0);
}

TEST(ThreadController, DecidesAlikeOnAllRanks)
{
  ThreadController one(ControllerOptions{}), other(ControllerOptions{});
  for (int i = 0; i < 200; ++i) {
    const double rate = 1e6 * (1 + (i * 7919) % 13) * one.Threads();
    one.Observe(rate, one.Threads());
    other.Observe(rate, other.Threads());
    ASSERT_EQ(one.Threads(), other.Threads());
  }
}

/// Real threads on a slow storage: the number rises from 2 reads in flight towards the best number, 32.
TEST(ThreadController, RaisesTheThreadsOfARealRead)
{
  FakeBehaviour behaviour;
  behaviour.Latency = std::chrono::milliseconds(2);
  behaviour.Rate = [](int n) { return n <= 32 ? 1e6 * n : 32e6 * std::sqrt(32.0 / n); };
  FakeSource source({std::vector<std::byte>(1000)}, behaviour);
  const auto file = source.Open(0);
  ControllerOptions options = StartingAt(2);
  options.Most = 128;
  ThreadController controller(options);
  std::atomic<std::uint64_t> bytes{0};
  auto begin = std::chrono::steady_clock::now();
  std::uint64_t before = 0;
  IoScheduler read(60000, [&](std::size_t) {
    char into[1000];
    file->Read(0, into, sizeof into);
    bytes += sizeof into;
  });
  do {
    read.SetLimit(controller.Threads());
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin).count();
    if (seconds > 0.1) {
      controller.Observe(static_cast<double>(bytes - before) / seconds, controller.Threads());
      begin = now;
      before = bytes;
    }
    if (controller.BestSoFar() > 8 && controller.History().size() >= 8) {
      read.Cancel();
    }
  } while (!read.WaitFor(PollInterval));
  EXPECT_GT(controller.BestSoFar(), 8);
}

}  // namespace
}  // namespace patchio
