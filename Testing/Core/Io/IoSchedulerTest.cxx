#include "Io/IoScheduler.h"

#include "FakeSource.h"
#include "HangingSource.h"
#include "Io/ReadTask.h"
#include "TestTools.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <sys/resource.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <set>
#include <thread>

namespace patchio {
namespace {

using std::chrono::milliseconds;
using testing::Gate;

/// Starts `tasks` concurrent tasks that all wait for the gate.
std::unique_ptr<IoScheduler> Hanging(int tasks, const std::shared_ptr<Gate>& gate)
{
  auto read = std::make_unique<IoScheduler>(tasks, [gate](std::size_t) { gate->Wait(); });
  read->SetLimit(tasks);
  EXPECT_EQ(read->PeakConcurrency(), tasks) << "this machine grants too few threads for the test";
  return read;
}

void WaitForAll(const IoScheduler& read)
{
  while (!read.WaitFor(PollInterval)) {
  }
}

/// Returns whether `tasks` tasks run at the same time.
bool RunAtOnce(int tasks)
{
  const auto gate = std::make_shared<Gate>();
  const auto read = Hanging(tasks, gate);
  const bool all = gate->AwaitWaiting(tasks);
  gate->Open();
  WaitForAll(*read);
  return all;
}

/// Returns how often each task was executed.
std::vector<int> CountRuns(std::size_t tasks, int limit, const ProgressCallback& progress = {})
{
  std::vector<std::atomic<int>> runs(tasks);
  EXPECT_TRUE(RunTasks(
      tasks, limit, [&](std::size_t task) { ++runs[task]; }, progress));
  return std::vector<int>(runs.begin(), runs.end());
}

/// Tasks of 1 ms, with a count of the running tasks.
struct SlowTasks
{
  void Run()
  {
    const int now = ++this->AtWork;
    int peak = this->Peak;
    while (now > peak && !this->Peak.compare_exchange_weak(peak, now)) {
    }
    std::this_thread::sleep_for(milliseconds(1));
    --this->AtWork;
  }
  std::atomic<int> AtWork{0}, Peak{0};
};

}  // namespace

TEST(IoScheduler, LeavesTasksBehindWithAllThatTheyOwn)
{
  const auto gate = std::make_shared<Gate>();
  const auto done = std::make_shared<std::atomic<int>>(0);
  {
    IoScheduler read(100, [gate, done](std::size_t) {
      gate->Wait();
      ++*done;
    });
    read.SetLimit(3);
    ASSERT_TRUE(gate->AwaitWaiting(3));
    EXPECT_FALSE(read.WaitFor(milliseconds(1)));
    read.Cancel();
    EXPECT_FALSE(read.WaitFor(milliseconds(1)));
    EXPECT_TRUE(read.Cancelled());
    EXPECT_EQ(read.Fraction(), 0);
  }
  EXPECT_GT(done.use_count(), 1) << "tasks own what they use";
  gate->Open();
  while (done.use_count() > 1) {  // the time limit of the test ends this loop if ownership is never released
    std::this_thread::yield();
  }
  EXPECT_EQ(*done, 3) << "tasks at work are finished, and no others begun";
}

TEST(IoScheduler, IsNotStarvedByReadsThatHang)
{
  const auto gate = std::make_shared<Gate>();
  const auto first = Hanging(256, gate);
  ASSERT_TRUE(gate->AwaitWaiting(256));
  const auto second = Hanging(256, gate);
  ASSERT_TRUE(gate->AwaitWaiting(512));
  EXPECT_TRUE(RunAtOnce(64));
  EXPECT_EQ(CountRuns(100, 8), std::vector<int>(100, 1));
  gate->Open();
  WaitForAll(*first);
  WaitForAll(*second);
  EXPECT_EQ(first->Fraction(), 1);
}

/// TBB considers an arena idle when some of its tasks hang and the others have ended; see IoThreads::Slot.
TEST(IoScheduler, IsNotStarvedByAFewTasksThatHang)
{
  const auto gate = std::make_shared<Gate>();
  IoScheduler partly(1'000'000, [gate](std::size_t task) {
    if (task < 40) {
      gate->Wait();
    }
    std::this_thread::sleep_for(milliseconds(1));
  });
  partly.SetLimit(64);
  ASSERT_TRUE(gate->AwaitWaiting(40));
  partly.Cancel();
  std::this_thread::sleep_for(milliseconds(20));  // gives TBB time to notice
  EXPECT_TRUE(RunAtOnce(64));
  gate->Open();
  WaitForAll(partly);
}

TEST(IoScheduler, FollowsItsLimit)
{
  SlowTasks tasks;
  std::atomic<std::size_t> begun{0};
  IoScheduler read(1'000'000, [&](std::size_t) {
    ++begun;
    tasks.Run();
  });
  EXPECT_FALSE(read.HasBegun());
  EXPECT_FALSE(read.WaitFor(milliseconds(1)));
  EXPECT_EQ(begun, 0u) << "without a limit nothing begins";
  for (const int limit : {1, 24, 2, 8, 32, 4, 40}) {
    read.SetLimit(limit);
    while (tasks.AtWork > limit) {  // until the surplus threads have ended
      std::this_thread::yield();
    }
    tasks.Peak = 0;
    while (tasks.Peak < limit) {  // the time limit of the test ends this loop if there are too few threads
      std::this_thread::yield();
    }
    const std::size_t from = begun;
    while (begun < from + 200) {
      std::this_thread::yield();
    }
    EXPECT_EQ(tasks.Peak, limit);
  }
  EXPECT_EQ(read.PeakConcurrency(), 40);
  EXPECT_EQ(read.RefusedLimit(), 0);
  read.Cancel();
  WaitForAll(read);
}

TEST(IoScheduler, KeepsUpWithALimitThatChangesAllTheTime)
{
  std::vector<std::atomic<int>> runs(20000);
  IoScheduler read(runs.size(), [&](std::size_t task) {
    ++runs[task];
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  int turns = 0;
  do {
    read.SetLimit(++turns % 3 == 0 ? 1 : 1 + turns % 8);
  } while (!read.WaitFor(milliseconds(1)));
  EXPECT_GT(turns, 10);
  EXPECT_LE(read.PeakConcurrency(), 8);
  EXPECT_EQ(read.Fraction(), 1);
  for (const std::atomic<int>& count : runs) {
    ASSERT_EQ(count, 1);
  }
}

TEST(IoScheduler, BeginsTasksInTheirOrder)
{
  std::vector<std::size_t> order;
  IoScheduler read(500, [&](std::size_t task) { order.push_back(task); });
  read.SetLimit(1);
  WaitForAll(read);
  ASSERT_EQ(order.size(), 500u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(IoScheduler, BeginsAfterAnotherOne)
{
  const auto gate = std::make_shared<Gate>();
  const auto first = Hanging(4, gate);
  std::atomic<int> done{0};
  IoScheduler second(
      10, [&](std::size_t) { ++done; }, TaskPriority::Prefetch);
  IoScheduler third(
      1, [&](std::size_t) { done += 100; }, TaskPriority::Prefetch);
  IoScheduler dropped(
      1, [&](std::size_t) { done += 1000; }, TaskPriority::Prefetch);
  auto destroyed = std::make_unique<IoScheduler>(1, [&](std::size_t) { done += 10000; });
  second.SetLimitAfter(*first, 2);
  third.SetLimitAfter(second, 1);
  dropped.SetLimitAfter(second, 1);
  destroyed->SetLimitAfter(second, 1);
  dropped.Cancel();
  destroyed.reset();
  EXPECT_FALSE(second.WaitFor(milliseconds(20)));
  EXPECT_EQ(done, 0);
  gate->Open();
  WaitForAll(third);
  EXPECT_EQ(done, 110);
  IoScheduler late(1, [&](std::size_t) { done = -1; });
  late.SetLimitAfter(*first, 1);
  WaitForAll(late);
  EXPECT_EQ(done, -1) << "what was to be awaited is done";
}

TEST(IoScheduler, DoesNotBeginAfterOneThatIsCancelled)
{
  const auto gate = std::make_shared<Gate>();
  const auto first = Hanging(1, gate);
  IoScheduler second(1, [](std::size_t) { ADD_FAILURE(); });
  second.SetLimitAfter(*first, 1);
  auto more = std::make_unique<IoScheduler>(5, [gate](std::size_t) { gate->Wait(); });
  more->SetLimit(1);
  IoScheduler afterMore(1, [](std::size_t) { ADD_FAILURE(); });
  afterMore.SetLimitAfter(*more, 1);
  second.Cancel();
  more->Cancel();
  gate->Open();
  WaitForAll(*first);
  WaitForAll(*more);
  EXPECT_FALSE(afterMore.WaitFor(milliseconds(20)));
}

TEST(IoScheduler, KeepsTheStorageAsBusyAsAsked)
{
  FakeBehaviour slow;
  slow.Latency = milliseconds(500);  // long compared with the start of 64 threads
  FakeSource source({std::vector<std::byte>(64 * 16)}, slow);
  ReadMeter meter;
  const auto reader = MakeTaskReaders(source, meter);
  IoScheduler read(128, [&](std::size_t task) {
    char into[16];
    reader().Read(0, task % 64 * 16, {{into, 16}});
  });
  read.SetLimit(64);
  WaitForAll(read);
  EXPECT_EQ(source.PeakInFlight(), 64);
  EXPECT_EQ(meter.PeakInFlight(), 64);
  EXPECT_EQ(meter.Requests(), 128u);
  EXPECT_EQ(meter.Bytes(), 128u * 16);
}

TEST(IoScheduler, LetsItsTaskRunOnTheCallingThread)
{
  int done = 0;
  IoScheduler read(3, [&](std::size_t) { ++done; });
  while (read.RunNextTask()) {
  }
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(read.WaitFor(milliseconds(0)));
  EXPECT_EQ(read.PeakConcurrency(), 0);
}

TEST(IoScheduler, MeasuresTheTimeOfTasksWithoutThreads)
{
  const tbb::global_control none(tbb::global_control::max_allowed_parallelism, 1);
  IoScheduler read(3, [](std::size_t) { std::this_thread::sleep_for(milliseconds(5)); });
  read.SetLimit(4);
  EXPECT_EQ(read.PeakConcurrency(), 0);
  while (read.RunNextTask()) {
  }
  const double seconds = read.Seconds();
  EXPECT_GE(seconds, 0.015);
  std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(read.Seconds(), seconds) << "time passes after the end";
}

TEST(IoScheduler, OfAShortReadIsRefusedNothing)
{
  for (int round = 0; round < 50; ++round) {
    IoScheduler read(8, [](std::size_t) {});
    read.SetLimit(8);
    WaitForAll(read);
    EXPECT_EQ(read.RefusedLimit(), 0);
  }
}

/// Another library of the process keeps its usual number of threads.
TEST(IoScheduler, LeavesOtherUsersOfTbbAlone)
{
  const int cores = tbb::info::default_concurrency();
  const auto gate = std::make_shared<Gate>();
  const auto hanging = Hanging(256, gate);
  ASSERT_TRUE(gate->AwaitWaiting(256));
  EXPECT_EQ(tbb::this_task_arena::max_concurrency(), cores);
  Gate meeting;
  std::atomic<int> met{0};
  tbb::parallel_for(
      0, cores, [&](int) { met += meeting.Meet(cores) ? 1 : 0; }, tbb::simple_partitioner());
  EXPECT_EQ(met, cores) << "starved";
  std::mutex mutex;
  std::set<std::thread::id> threads;
  tbb::parallel_for(0, 2000, [&](int) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    const std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_LE(static_cast<int>(threads.size()), cores) << "widened";
  gate->Open();
  WaitForAll(*hanging);
}

TEST(IoScheduler, GoesOnWithTheThreadsThatAnotherUserOfTbbLeaves)
{
  const tbb::global_control few(tbb::global_control::max_allowed_parallelism, 4);
  IoScheduler read(500, [](std::size_t) { std::this_thread::yield(); });
  read.SetLimit(64);
  WaitForAll(read);
  EXPECT_EQ(read.Fraction(), 1);
  EXPECT_EQ(read.PeakConcurrency(), 3);
  EXPECT_EQ(read.RefusedLimit(), 64);
}

/// Exits with 0 if all tasks were executed on fewer threads than requested, and TBB starts no more threads.
void RunUnderAThreadLimit()
{
  if (::geteuid() == 0 && ::setuid(65534) != 0) {  // the limit does not hold for root
    std::_Exit(2);
  }
  const rlimit limit{8, 8};
  ::setrlimit(RLIMIT_NPROC, &limit);
  bool good = CountRuns(500, 64) == std::vector<int>(500, 1);
  for (int round = 0; round < 20; ++round) {
    IoScheduler read(500, [](std::size_t) { std::this_thread::sleep_for(milliseconds(1)); });
    read.SetLimit(64);
    good = good && read.RefusedLimit() == 64 && read.PeakConcurrency() < 64;
    while (read.RunNextTask()) {  // possibly no thread could start
    }
    WaitForAll(read);
  }
  constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
  good = good && tbb::global_control::active_value(parallelism) <= limit.rlim_cur + 1;
  std::_Exit(good ? 0 : 1);
}

/// Exits with 0 if the abandoned task ends before the process.
void ExitWhileATaskIsAtWork()
{
  static std::atomic<bool> begun{false}, through{false};
  std::atexit([] { std::_Exit(through ? 0 : 1); });  // registered first, runs after the scheduler's end
  IoScheduler read(2, [](std::size_t) {
    begun = true;
    std::this_thread::sleep_for(milliseconds(200));
    through = true;
  });
  read.SetLimit(1);
  while (!begun) {
    std::this_thread::yield();
  }
  std::exit(2);
}

/// Exits with 0 if a handler that runs after the scheduler's end can still carry out tasks.
void RunTasksWhileTheProcessEnds()
{
  std::atexit([] {
    const std::vector<int> once(50, 1);
    const bool all = CountRuns(50, 4) == once && CountRuns(50, 4, [](double) { return true; }) == once;
    std::_Exit(all ? 0 : 1);
  });
  CountRuns(50, 4);  // the first use of threads: the scheduler ends before the handler runs
  std::exit(2);
}

/// The storage never answers.
void ExitWhileAReadHangs()
{
  const auto gate = std::make_shared<Gate>();
  const auto read = Hanging(64, gate);
  gate->AwaitWaiting(64);
  read->Cancel();
  std::exit(3);
}

TEST(IoSchedulerDeathTest, ProcessesEndWithTheirReads)
{
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(RunUnderAThreadLimit(), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ExitWhileATaskIsAtWork(), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(RunTasksWhileTheProcessEnds(), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ExitWhileAReadHangs(), ::testing::ExitedWithCode(3), "") << "waits forever";
}

TEST(RunTasks, CarriesOutEachTaskOnce)
{
  for (const int limit : {0, 1, 2, 3, 16, 64}) {
    EXPECT_EQ(CountRuns(5000, limit), std::vector<int>(5000, 1)) << limit << " threads";
    EXPECT_EQ(CountRuns(1, limit), std::vector<int>{1});
    EXPECT_EQ(CountRuns(300, limit, [](double) { return true; }), std::vector<int>(300, 1));
  }
}

TEST(RunTasks, HasNothingToDoWithoutTasks)
{
  for (const int limit : {1, 8}) {
    bool progressed = false;
    EXPECT_TRUE(RunTasks(
        0, limit, [](std::size_t) { ADD_FAILURE(); }, [&](double) { return progressed = true; }));
    EXPECT_FALSE(progressed);
  }
}

TEST(RunTasks, WithOneThreadTakesTheCallingOne)
{
  const auto caller = std::this_thread::get_id();
  std::vector<std::size_t> order;
  std::vector<double> fractions;
  EXPECT_TRUE(RunTasks(
      4, 1,
      [&](std::size_t task) {
        order.push_back(task);
        EXPECT_EQ(std::this_thread::get_id(), caller);
      },
      [&](double fraction) {
        fractions.push_back(fraction);
        return true;
      }));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(fractions, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

TEST(RunTasks, StopsAtOnceOnOneThread)
{
  std::size_t runs = 0;
  EXPECT_FALSE(RunTasks(
      100, 1, [&](std::size_t) { ++runs; }, [](double fraction) { return fraction < 0.05; }));
  EXPECT_EQ(runs, 5u);
}

TEST(RunTasks, StaysWithinTheNumberAsked)
{
  SlowTasks tasks;
  RunTasks(60, 3, [&](std::size_t) { tasks.Run(); });
  EXPECT_LE(tasks.Peak, 3);
  RunTasks(
      60, 3, [&](std::size_t) { tasks.Run(); }, [](double) { return true; });
  EXPECT_LE(tasks.Peak, 3);
}

TEST(RunTasks, ReportsRisingProgressOnTheCallingThreadOnly)
{
  const auto caller = std::this_thread::get_id();
  SlowTasks tasks;
  std::vector<double> fractions;
  RunTasks(
      200, 4,
      [&](std::size_t) {
        EXPECT_NE(std::this_thread::get_id(), caller);
        tasks.Run();
      },
      [&](double fraction) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        fractions.push_back(fraction);
        return true;
      });
  ASSERT_GT(fractions.size(), 1u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

TEST(RunTasks, StopsWhenCancelled)
{
  std::atomic<std::size_t> begun{0};
  SlowTasks tasks;
  EXPECT_FALSE(RunTasks(
      1'000'000, 8,
      [&](std::size_t) {
        ++begun;
        tasks.Run();
      },
      [](double) { return false; }));
  EXPECT_LT(begun, 1'000'000u);
  EXPECT_EQ(tasks.AtWork, 0) << "tasks that were begun are finished";
}

TEST(IoScheduler, WhatATaskThrowsComesToWhoWaits)
{
  for (const int limit : {1, 4}) {
    for (const ProgressCallback& progress :
        {ProgressCallback(), ProgressCallback([](double) { return true; })}) {
      const auto run = [&](std::size_t bad) {
        std::atomic<int> done{0};
        RunTasks(
            50, limit,
            [&](std::size_t task) {
              if (task == bad) {
                throw std::bad_alloc();
              }
              ++done;
            },
            progress);
        return done.load();
      };
      EXPECT_THROW(run(7), std::bad_alloc);
      EXPECT_EQ(run(50), 50);
    }
  }
}

}  // namespace patchio
