#include "Io/Lanes.h"

#include "Io/FakeSource.h"
#include "Io/Lane.h"
#include "TestTools.h"

#include <sys/resource.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace patchio {
namespace {

/// How often each task was carried out.
std::vector<int> CountRuns(std::size_t tasks, int lanes)
{
  std::vector<std::atomic<int>> runs(tasks);
  const LanesOutcome outcome = RunLanes(tasks, lanes, [&](std::size_t task, int) { ++runs[task]; });
  EXPECT_EQ(outcome.Finished, tasks);
  EXPECT_FALSE(outcome.Cancelled);
  return std::vector<int>(runs.begin(), runs.end());
}

/// Where threads wait for each other. The time limit only ends a test that has failed already.
class MeetingPoint
{
public:
  explicit MeetingPoint(int threads) : Awaited(threads) {}
  bool AllCame()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    ++this->Came;
    this->Change.notify_all();
    return this->Change.wait_for(
        lock, std::chrono::seconds(30), [this] { return this->Came >= this->Awaited; });
  }

private:
  int Awaited;
  int Came = 0;
  std::mutex Mutex;
  std::condition_variable Change;
};

/// A storage whose requests hang until it is told to go on. Shared, as lanes may outlive the test's scope.
class Gate
{
public:
  void Wait()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    ++this->Waiting;
    this->Change.notify_all();
    this->Change.wait(lock, [this] { return this->IsOpen; });
  }
  void AwaitWaiting(int threads)
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    this->Change.wait(lock, [&] { return this->Waiting >= threads; });
  }
  void Open()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->IsOpen = true;
    this->Change.notify_all();
  }

private:
  std::mutex Mutex;
  std::condition_variable Change;
  int Waiting = 0;
  bool IsOpen = false;
};

}  // namespace

TEST(LaneTeam, IsLeftBehindWithAllThatItsLanesOwn)
{
  const auto gate = std::make_shared<Gate>();
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const auto owned = std::make_shared<std::vector<int>>(3);
  {
    LaneTeam team(100, 3, [gate, begun, owned](std::size_t, int lane) {
      ++*begun;
      gate->Wait();
      ++owned->at(lane);
    });
    team.SetLanes(3);
    gate->AwaitWaiting(3);
    EXPECT_FALSE(team.WaitFor(std::chrono::milliseconds(1)));
    team.Cancel();
    EXPECT_FALSE(team.WaitFor(std::chrono::milliseconds(1)));
    EXPECT_TRUE(team.Outcome().Cancelled);
    EXPECT_EQ(team.Outcome().Finished, 0u);
  }
  EXPECT_GT(owned.use_count(), 1) << "lanes own what they use";
  gate->Open();
  while (owned.use_count() > 1) {  // the time limit of the test ends this where something is never let go
    std::this_thread::yield();
  }
  EXPECT_EQ(*owned, (std::vector<int>{1, 1, 1})) << "the task at hand is finished";
  EXPECT_EQ(*begun, 3) << "and no other begun";
}

TEST(LaneTeam, DoesNotWaitForTheLanesOfAnother)
{
  const auto gate = std::make_shared<Gate>();
  LaneTeam hanging(40, 40, [gate](std::size_t, int) { gate->Wait(); });
  hanging.SetLanes(40);
  gate->AwaitWaiting(40);
  EXPECT_EQ(CountRuns(100, 8), std::vector<int>(100, 1));
  MeetingPoint meeting(16);
  std::atomic<int> met{0};
  RunLanes(16, 16, [&](std::size_t, int) { met += meeting.AllCame() ? 1 : 0; });
  EXPECT_EQ(met, 16);
  gate->Open();
  hanging.Wait();
  EXPECT_EQ(hanging.Outcome().Finished, 40u);
}

/// Exits with 0 when the lanes that were left behind are through before the process is.
void ExitWhileLanesAreAtWork()
{
  static std::atomic<bool> begun{false}, through{false};
  std::atexit([] { std::_Exit(through ? 0 : 1); });  // after the pool's end, as it is registered before
  LaneTeam team(1, 1, [](std::size_t, int) {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    through = true;
  });
  team.SetLanes(1);
  while (!begun) {
    std::this_thread::yield();
  }
  team.Cancel();
  std::exit(2);
}

TEST(LanesDeathTest, ExitWaitsForLanesThatWereLeftBehind)
{
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(ExitWhileLanesAreAtWork(), ::testing::ExitedWithCode(0), "");
}

TEST(Lanes, CarryOutEachTaskOnce)
{
  for (const int lanes : {1, 2, 3, 16, 64}) {
    EXPECT_EQ(CountRuns(5000, lanes), std::vector<int>(5000, 1)) << lanes << " lanes";
  }
}

TEST(Lanes, CarryOutOneTask)
{
  EXPECT_EQ(CountRuns(1, 1), std::vector<int>{1});
  EXPECT_EQ(CountRuns(1, 8), std::vector<int>{1});
}

TEST(Lanes, HaveNothingToDoWithoutTasks)
{
  bool progressed = false;
  const LanesOutcome outcome = RunLanes(
      0, 8, [](std::size_t, int) { ADD_FAILURE(); }, [&](double) { return progressed = true; });
  EXPECT_EQ(outcome.Finished, 0u);
  EXPECT_FALSE(outcome.Cancelled);
  EXPECT_FALSE(progressed);
}

TEST(Lanes, OfOneRunInOrderOnTheCallingThread)
{
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  RunLanes(100, 1, [&](std::size_t task, int lane) {
    order.push_back(task);
    EXPECT_EQ(lane, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Lanes, AreNeverSharedByTwoThreadsAtATime)
{
  std::vector<std::atomic<int>> users(8);
  RunLanes(20000, 8, [&](std::size_t, int lane) {
    EXPECT_EQ(++users.at(lane), 1);
    --users.at(lane);
  });
}

TEST(Lanes, ExceedTheCoresWhenAsked)
{
  constexpr int lanes = 64;
  MeetingPoint meeting(lanes);
  std::atomic<int> met{0};
  RunLanes(lanes, lanes, [&](std::size_t, int) { met += meeting.AllCame() ? 1 : 0; });
  EXPECT_EQ(met, lanes) << "fewer threads than lanes";
}

TEST(Lanes, GrowAfterASmallerRun)
{
  CountRuns(10, 2);
  MeetingPoint meeting(32);
  std::atomic<int> met{0};
  RunLanes(32, 32, [&](std::size_t, int) { met += meeting.AllCame() ? 1 : 0; });
  EXPECT_EQ(met, 32);
}

TEST(Lanes, KeepTheStorageAsBusyAsAsked)
{
  FakeBehaviour slow;
  slow.Latency = std::chrono::milliseconds(500);  // long against the start of 64 threads
  FakeSource source({std::vector<std::byte>(64 * 16)}, slow);
  ReadMeter meter;
  std::deque<Lane> lanes;
  for (int i = 0; i < 64; ++i) {
    lanes.emplace_back(source, meter);
  }
  RunLanes(128, 64, [&](std::size_t task, int lane) {
    char into[16];
    lanes[lane].Read(0, task % 64 * 16, {{into, 16}});
  });
  EXPECT_EQ(source.PeakInFlight(), 64);
  EXPECT_EQ(meter.PeakInFlight(), 64);
  EXPECT_EQ(meter.Requests(), 128u);
  EXPECT_EQ(meter.Bytes(), 128u * 16);
}

TEST(Lanes, StayWithinTheNumberAsked)
{
  FakeBehaviour slow;
  slow.Latency = std::chrono::milliseconds(2);
  FakeSource source({std::vector<std::byte>(16)}, slow);
  const auto file = source.Open(0);
  RunLanes(60, 3, [&](std::size_t, int lane) {
    char into[16];
    EXPECT_LT(lane, 3);
    file->Read(0, into, 16);
  });
  EXPECT_LE(source.PeakInFlight(), 3);
}

TEST(Lanes, ReportRisingProgressOnTheCallingThreadOnly)
{
  const auto caller = std::this_thread::get_id();
  std::vector<double> fractions;
  std::atomic<int> strangers{0};
  std::atomic<bool> callerHasWorked{false};
  RunLanes(
      2000, 4,
      [&](std::size_t, int) {
        // On a busy machine the others could be through before the caller gets its turn.
        if (std::this_thread::get_id() == caller) {
          callerHasWorked = true;
        }
        while (!callerHasWorked) {
          std::this_thread::yield();
        }
      },
      [&](double fraction) {
        if (std::this_thread::get_id() != caller) {
          ++strangers;
          return true;
        }
        fractions.push_back(fraction);
        return true;
      });
  EXPECT_EQ(strangers, 0);
  ASSERT_FALSE(fractions.empty());
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GT(fractions.front(), 0);
  EXPECT_LE(fractions.back(), 1);
}

TEST(Lanes, GrowAndRetireAsTheGoalChanges)
{
  FakeBehaviour slow;
  slow.Latency = std::chrono::milliseconds(2);
  FakeSource source({std::vector<std::byte>(16)}, slow);
  const auto file = source.Open(0);
  LaneGoal goal(1, 24);
  const auto caller = std::this_thread::get_id();
  int peakOfOne = 0, peakOfMany = 0;
  std::atomic<std::size_t> lowered{0};  // tasks begun when the goal was lowered
  std::atomic<std::size_t> begun{0};
  std::atomic<int> late{0}, byCaller{0};
  std::vector<std::atomic<int>> runs(2000);
  const LanesOutcome outcome = RunLanes(
      runs.size(), goal,
      [&](std::size_t task, int lane) {
        const std::size_t number = ++begun;
        byCaller += std::this_thread::get_id() == caller ? 1 : 0;
        char into[16];
        file->Read(0, into, 16);
        ++runs[task];
        // A lane that retires may have had one task more in its hands.
        late += lowered > 0 && number > lowered + 100 && lane > 1 ? 1 : 0;
      },
      [&](double fraction) {
        if (fraction > 0.7 && lowered == 0) {
          peakOfMany = source.PeakInFlight();
          goal.Set(2);
          lowered = begun.load();
        } else if (fraction > 0.02 && goal.Lanes() == 1) {
          peakOfOne = source.PeakInFlight();
          goal.Set(24);
        }
        return true;
      });
  EXPECT_EQ(peakOfOne, 1);
  EXPECT_GT(peakOfMany, 8);
  EXPECT_LE(peakOfMany, 24);
  EXPECT_EQ(late, 0);
  EXPECT_EQ(byCaller, 0);
  EXPECT_EQ(outcome.Finished, runs.size());
  EXPECT_EQ(outcome.Lanes, 24);
  for (const std::atomic<int>& count : runs) {
    ASSERT_EQ(count, 1);
  }
}

TEST(Lanes, StartAgainAfterRetiring)
{
  LaneGoal goal(8, 8);
  std::vector<std::atomic<int>> users(8);
  int turns = 0;
  std::atomic<std::size_t> done{0};
  RunLanes(
      20000, goal,
      [&](std::size_t, int lane) {
        EXPECT_EQ(++users.at(lane), 1);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        --users.at(lane);
        ++done;
      },
      [&](double) {
        goal.Set(++turns % 3 == 0 ? 1 : 1 + turns % 8);
        return true;
      });
  EXPECT_EQ(done, 20000u);
  EXPECT_GT(turns, 10);
}

TEST(Lanes, OfAGoalStopWithinATaskWhenCancelled)
{
  std::atomic<std::size_t> runs{0};
  const LanesOutcome outcome = RunLanes(
      1'000'000, LaneGoal(8),
      [&](std::size_t, int) {
        ++runs;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      },
      [](double) { return false; });
  EXPECT_TRUE(outcome.Cancelled);
  EXPECT_LT(outcome.Finished, 1'000'000u);
  EXPECT_EQ(outcome.Finished, runs);
}

TEST(Lanes, OfAGoalHaveNothingToDoWithoutTasks)
{
  const LanesOutcome outcome = RunLanes(0, LaneGoal(4), [](std::size_t, int) { ADD_FAILURE(); });
  EXPECT_EQ(outcome.Finished, 0u);
  EXPECT_FALSE(outcome.Cancelled);
}

TEST(LaneGoal, StaysWithinItsBounds)
{
  LaneGoal goal(50, 16);
  EXPECT_EQ(goal.Lanes(), 16);
  goal.Set(0);
  EXPECT_EQ(goal.Lanes(), 1);
  goal.Set(99);
  EXPECT_EQ(goal.Lanes(), 16);
  EXPECT_EQ(LaneGoal(-3).Lanes(), 1);
}

/// Exits with 0 when all tasks were done on fewer lanes than asked for.
void RunUnderAThreadLimit()
{
  if (::geteuid() == 0 && ::setuid(65534) != 0) {  // the limit does not hold for root
    std::_Exit(2);
  }
  const rlimit limit{8, 8};
  ::setrlimit(RLIMIT_NPROC, &limit);
  const LanesOutcome outcome = RunLanes(500, 64, [](std::size_t, int) { std::this_thread::yield(); });
  LaneTeam team(500, 64, [](std::size_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  team.SetLanes(64);
  const bool refused = team.RefusedLanes() == 64 && team.Lanes() < 64;
  team.Cancel();
  team.Wait();
  std::_Exit(outcome.Finished == 500 && outcome.Lanes >= 1 && outcome.Lanes < 64 && refused ? 0 : 1);
}

TEST(LanesDeathTest, GoOnWithTheThreadsThatTheSystemGrants)
{
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(RunUnderAThreadLimit(), ::testing::ExitedWithCode(0), "");
}

TEST(LaneTeam, OfAShortReadIsRefusedNothing)
{
  for (int round = 0; round < 50; ++round) {
    LaneTeam team(8, 8, [](std::size_t, int) {});
    team.SetLanes(8);
    team.Wait();
    EXPECT_EQ(team.RefusedLanes(), 0);
  }
}

TEST(Lanes, OfOneReportEveryTask)
{
  std::vector<double> fractions;
  RunLanes(
      4, 1, [](std::size_t, int) {},
      [&](double fraction) {
        fractions.push_back(fraction);
        return true;
      });
  EXPECT_EQ(fractions, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

TEST(Lanes, StopAtOnceWhenCancelled)
{
  std::size_t runs = 0;
  const LanesOutcome outcome = RunLanes(
      100, 1, [&](std::size_t, int) { ++runs; }, [](double fraction) { return fraction < 0.05; });
  EXPECT_TRUE(outcome.Cancelled);
  EXPECT_EQ(outcome.Finished, 5u);
  EXPECT_EQ(runs, 5u);
}

TEST(Lanes, AllStopWhenCancelled)
{
  std::atomic<std::size_t> runs{0};
  const LanesOutcome outcome = RunLanes(
      1'000'000, 8,
      [&](std::size_t, int) {
        ++runs;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      },
      [](double) { return false; });
  EXPECT_TRUE(outcome.Cancelled);
  EXPECT_LT(outcome.Finished, 1'000'000u);
  EXPECT_EQ(outcome.Finished, runs) << "tasks that were begun are finished";
}

}  // namespace patchio
