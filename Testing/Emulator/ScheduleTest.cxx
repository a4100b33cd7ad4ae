#include "Schedule.h"

#include "TestTools.h"

#include <cmath>

namespace patchio::emulator {
namespace {

// A single request for `Megabyte` takes 2 ms + 20 ms.
constexpr std::size_t Megabyte = 1'000'000;
constexpr double Alone = 0.022;

Model Storage(int concurrency = 16, double contention = 0.5, double total = 0)
{
  Model model;
  model.Latency = 0.002;
  model.Stream = 50e6;
  model.Concurrency = concurrency;
  model.Contention = contention;
  model.Total = total;
  return model;
}

/// Returns the bytes/s of N clients, each of which sends a new request as soon as the last one is served.
double MeasuredRate(Schedule& schedule, int clients, std::size_t bytes, int rounds = 50)
{
  for (int client = 0; client < clients; ++client) {
    schedule.Arrive(0, bytes);
  }
  double now = 0;
  for (int served = 0; served < clients * rounds;) {
    schedule.AdvanceTo(schedule.NextFinish());
    for (const Schedule::Finish& finish : schedule.TakeFinished()) {
      now = finish.Time;
      ++served;
      schedule.Arrive(now, bytes);
    }
  }
  return clients * rounds * static_cast<double>(bytes) / now;
}

double RateAt(const Model& model, int clients, int load = 0, std::size_t bytes = Megabyte)
{
  Schedule schedule(model);
  schedule.SetLoad(0, load);
  return MeasuredRate(schedule, clients, bytes);
}

/// Returns the finish times of requests that arrive at the given times with the given bytes.
std::vector<double> FinishTimes(
    Schedule& schedule, const std::vector<std::pair<double, std::size_t>>& arrivals)
{
  std::vector<double> times(arrivals.size());
  for (const auto& [time, bytes] : arrivals) {
    schedule.Arrive(time, bytes);
  }
  schedule.AdvanceTo(1e3);
  for (const Schedule::Finish& finish : schedule.TakeFinished()) {
    times.at(finish.Request) = finish.Time;
  }
  return times;
}

void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected)
{
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-9) << "request " << i;
  }
}

/// Expects that the rates agree to a millionth.
void ExpectRate(double found, double expected)
{
  EXPECT_NEAR(found / expected, 1, 1e-6);
}

}  // namespace

TEST(Schedule, OneRequestTakesLatencyAndItsBytes)
{
  Schedule schedule(Storage());
  ExpectNear(FinishTimes(schedule, {{5, Megabyte}}), {5.022});
  Schedule empty(Storage());
  ExpectNear(FinishTimes(empty, {{5, 0}}), {5.002});
}

TEST(Schedule, HasTheRateOfTheModel)
{
  const Model limited = Storage(16, 0.5, 400e6);
  const struct
  {
    const char* Name;
    Model Storage;
    int Clients, Load;
    std::size_t Bytes;
    double Rate;
  } cases[] = {
      {"one request", Storage(), 1, 0, Megabyte, 1e6 / Alone},
      {"rises linearly", Storage(), 4, 0, Megabyte, 4e6 / Alone},
      {"rises up to N*", Storage(), 16, 0, Megabyte, 16e6 / Alone},
      {"small requests pay the latency", Storage(), 16, 0, 100'000, 16 * 100e3 / 0.004},
      {"falls past N*", Storage(16, 0.5), 32, 0, Megabyte, 16e6 / Alone / std::sqrt(2.0)},
      {"falls further", Storage(16, 0.5), 64, 0, Megabyte, 16e6 / Alone / 2},
      {"falls faster", Storage(16, 1), 64, 0, Megabyte, 16e6 / Alone / 4},
      {"stays past N* without contention", Storage(16, 0), 17, 0, Megabyte, 16e6 / Alone},
      {"stays far past N* without contention", Storage(16, 0), 64, 0, Megabyte, 16e6 / Alone},
      {"below the total", limited, 4, 0, Megabyte, 4e6 / Alone},
      {"at the total", limited, 10, 0, Megabyte, 400e6},
      {"at the total up to N*", limited, 16, 0, Megabyte, 400e6},
      {"the limited rate falls past N*", limited, 64, 0, Megabyte, 200e6},
      {"800 MB/s are below the total", Storage(16, 0.5, 800e6), 64, 0, Megabyte, 16e6 / Alone / 2},
      {"8 + 8 requests are not more than N*", Storage(), 8, 8, Megabyte, 8e6 / Alone},
      {"a quarter of F(2 N*)", Storage(), 8, 24, Megabyte, 0.25 * 16e6 / Alone / std::sqrt(2.0)},
      {"half of the total", Storage(16, 0.5, 300e6), 8, 8, Megabyte, 150e6},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.Name);
    ExpectRate(RateAt(each.Storage, each.Clients, each.Load, each.Bytes), each.Rate);
  }
}

TEST(Schedule, ModelForetellsTheRate)
{
  for (const int others : {0, 5, 40}) {
    for (const int own : {1, 7, 16, 33, 128}) {
      const Model model = Storage(16, 0.7, 500e6);
      ExpectRate(model.Rate(own, others, 300'000), RateAt(model, own, others, 300'000));
    }
  }
}

TEST(Schedule, RequestsOfDifferentSizesAdvanceAtOneSpeed)
{
  // N* = 1 without contention: two requests in flight run at half speed. The small one, 4 ms alone, finishes
  // at 8 ms; the large one then has 18 of its 22 ms left.
  Schedule schedule(Storage(1, 0));
  ExpectNear(FinishTimes(schedule, {{0, Megabyte}, {0, 100'000}}), {0.026, 0.008});
}

TEST(Schedule, AnArrivalSlowsDownTheOthers)
{
  // 10 ms alone, then half speed: the first has 12 ms left, thus 24; then the second has 10 ms left, alone.
  Schedule schedule(Storage(1, 0));
  ExpectNear(FinishTimes(schedule, {{0, Megabyte}, {0.010, Megabyte}}), {0.034, 0.044});
}

TEST(Schedule, ForeseesTheFinish)
{
  Schedule schedule(Storage(1, 0));
  const Schedule::Ticket first = schedule.Arrive(0, Megabyte);
  EXPECT_NEAR(schedule.FinishOf(first), 0.022, 1e-12);
  const Schedule::Ticket second = schedule.Arrive(0.010, 0);
  EXPECT_NEAR(schedule.FinishOf(first), 0.034, 1e-12);
  EXPECT_NEAR(schedule.NextFinish(), 0.014, 1e-12);
  EXPECT_EQ(schedule.First(), second);
}

TEST(Schedule, LoadChangesWhileARequestIsServed)
{
  // Half of the work is done by 11 ms, and the rest at a quarter of the speed.
  Schedule schedule(Storage(1, 0));
  const Schedule::Ticket request = schedule.Arrive(0, Megabyte);
  schedule.SetLoad(0.011, 3);
  EXPECT_NEAR(schedule.FinishOf(request), 0.055, 1e-12);
  EXPECT_EQ(schedule.Load(), 3);
}

TEST(Schedule, ModelChangesWhileARequestIsServed)
{
  Schedule schedule(Storage(1, 0));
  const Schedule::Ticket first = schedule.Arrive(0, Megabyte);
  schedule.Arrive(0, Megabyte);
  schedule.SetModel(0.004, Storage(2, 0));  // 2 of the 22 ms are done
  EXPECT_NEAR(schedule.FinishOf(first), 0.024, 1e-12);
}

TEST(Schedule, CountsBusySecondsAndTheMostInFlight)
{
  Schedule schedule(Storage());
  FinishTimes(schedule, {{1, Megabyte}, {1.010, Megabyte}, {2, Megabyte}});
  EXPECT_NEAR(schedule.BusySeconds(), 0.032 + 0.022, 1e-12);
  EXPECT_EQ(schedule.MostInFlight(), 2);
  schedule.Arrive(1001, 0);
  schedule.ResetCounters(1001.001);
  EXPECT_EQ(schedule.MostInFlight(), 1);
  schedule.AdvanceTo(1002);
  EXPECT_NEAR(schedule.BusySeconds(), 0.001, 1e-9);
}

TEST(Schedule, StaysExactOverAMillionRequests)
{
  Schedule schedule(Storage());
  ExpectRate(MeasuredRate(schedule, 100, Megabyte, 10'000), 16e6 / Alone * std::sqrt(0.16));
}

TEST(Schedule, ServesARequestThatTakesNoTime)
{
  Model model;
  model.Latency = 0;
  Schedule schedule(model);
  ExpectNear(FinishTimes(schedule, {{3, 0}, {3, 0}}), {3, 3});
  EXPECT_TRUE(schedule.Idle());
}

TEST(Model, RefusesNumbersOutOfRange)
{
  const auto refused = [](auto change) {
    Model model;
    change(model);
    return ::patchio::testing::MessageOf([&] { CheckModel(model); });
  };
  EXPECT_THAT(refused([](Model& m) { m.Latency = -1; }), ::testing::HasSubstr("latency"));
  EXPECT_THAT(refused([](Model& m) { m.Stream = 0; }), ::testing::HasSubstr("one request"));
  EXPECT_THAT(refused([](Model& m) { m.Concurrency = 0; }), ::testing::HasSubstr("at least one"));
  EXPECT_THAT(refused([](Model& m) { m.Total = NAN; }), ::testing::HasSubstr("total"));
  EXPECT_THAT(refused([](Model& m) { m.Contention = 1e300; }), ::testing::HasSubstr("contention"));
  EXPECT_NO_THROW(CheckModel(Model()));
}

}  // namespace patchio::emulator
