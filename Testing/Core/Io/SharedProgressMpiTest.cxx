// Ranks that stop together: mpiexec -n NP patchio_shared_progress_mpi_test
//
// Each rank reads from its own storage, which hangs or is slow. If the message to stop does not reach all
// ranks, the test fails by its time limit.
#include "Io/Progress.h"

#include "Base/Error.h"
#include "HangingSource.h"
#include "Io/IoScheduler.h"
#include "MpiTest.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace patchio {
namespace {

using testing::Expect;
using testing::ExpectAlike;
using testing::Rank;

/// Reads `tasks` tasks of 1 ms and shares the progress. stopAt: number of tasks after which this rank is
/// stopped; `tasks`: while it waits for the others; -1: never. Returns whether this rank has executed all
/// tasks.
bool Read(SharedProgress& together, int tasks, int stopAt)
{
  std::atomic<int> done{0};
  RunTasks(
      tasks, 2,
      [&](std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done;
      },
      [&](double fraction) {
        ReadProgress now;
        now.Fraction = fraction;
        now.Bytes = done;
        now.BytesToRead = tasks;
        return together.Step(now, stopAt >= 0 && stopAt < tasks && done >= stopAt);
      });
  const bool all = done == tasks;
  together.Finish([&] { return stopAt == tasks; });
  return all;
}

void CheckThatAllEnd(Communicator& ranks)
{
  for (const int tasks : {0, 1, 200}) {
    SharedProgress together(ranks);
    Expect(Read(together, Rank == 0 ? tasks : 50, -1), "not all was read");
    Expect(!together.Stopped(), "stopped although no rank asked for it");
  }
}

/// Checks that stopping one rank, at any time, stops all ranks.
void CheckThatOneStopsAll(Communicator& ranks)
{
  const int last = ranks.Size() - 1;
  for (const int who : {0, last}) {
    for (const int stopAt : {0, 60}) {
      SharedProgress together(ranks);
      // This is more than the time limit allows.
      const bool all = Read(together, 1'000'000, Rank == who ? stopAt : -1);
      Expect(!all, "read on to the end");
      Expect(together.Stopped(), "not stopped");
    }
  }
}

void CheckThatOneStopsWhileItWaits(Communicator& ranks)
{
  SharedProgress together(ranks);
  const int tasks = Rank == 0 ? 10 : 1'000'000;
  const bool all = Read(together, tasks, Rank == 0 ? tasks : -1);
  Expect(all == (Rank == 0), "rank 0 alone has read all");
  // A single rank finishes before it could be stopped.
  Expect(together.Stopped() || ranks.Size() == 1, "not stopped");
  ExpectAlike(ranks, together.Stopped(), "stopped while waiting");
}

/// Checks that all ranks leave a read in which a request hangs on each rank.
void CheckThatHangingRequestsAreLeft(Communicator& ranks)
{
  const auto gate = std::make_shared<testing::Gate>();
  SharedProgress together(ranks);
  {
    IoScheduler read(2, [gate](std::size_t) { gate->Wait(); });
    read.SetLimit(2);
    while (!read.WaitFor(PollInterval) && together.Step({}, Rank == 0)) {
    }
    Expect(read.Fraction() == 0, "nothing can have been read");
  }
  together.Finish([] { return false; });
  Expect(together.Stopped(), "not stopped");
  ranks.AllGather(std::vector<int>{});
  gate->Open();
}

/// Checks that endless work stops on all ranks if any rank is stopped. One rank may have no work.
void CheckThatWorkIsStopped(Communicator& ranks)
{
  const int last = ranks.Size() - 1;
  for (const int who : {0, last}) {
    for (const int idle : {-1, who, last - who}) {
      int told = 0;
      const bool done = RunUnlessStopped(
          ranks, [&](double) { return Rank != who || ++told < 3; },
          [&](const ProgressCallback& progress) {
            while (Rank != idle && progress(0.5)) {
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
          });
      // A single rank finishes before it could be stopped.
      Expect(!done || (ranks.Size() == 1 && idle == 0), "not stopped");
      ExpectAlike(ranks, done, "stopped");
    }
  }
}

/// Checks the end of finite work, and the total progress.
void CheckThatWorkIsDone(Communicator& ranks)
{
  for (const bool told : {false, true}) {
    double last = 0;
    bool worked = false;
    const bool done = RunUnlessStopped(ranks,
        told ? ProgressCallback([&](double fraction) {
          Expect(fraction >= last && fraction <= 1, "fraction of all ranks");
          last = fraction;
          return true;
        })
             : ProgressCallback(),
        [&](const ProgressCallback& progress) {
          Expect(static_cast<bool>(progress) == told,
              "a callback for a caller that gave none, or none for one that did");
          // Two rounds.
          for (int i = 0; told && i < 100 * (Rank + 1); ++i) {
            Expect(progress(i % 50 / 50.0), "stopped although no rank asked for it");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          worked = true;
        });
    Expect(done && worked, "not done");
    Expect(!told || last > 0, "nothing was told");
  }
}

void CheckThatFaultsOfWorkAreEverybodys(Communicator& ranks)
{
  const int last = ranks.Size() - 1;
  for (const ProgressCallback& progress :
      {ProgressCallback(), ProgressCallback([](double) { return true; })}) {
    std::string message;
    try {
      RunUnlessStopped(ranks, progress, [&](const ProgressCallback&) {
        if (Rank == last) {
          throw Error("broken");
        }
      });
    } catch (const Error& error) {
      message = error.what();
    }
    Expect(message == "broken", "the fault of the last rank");
  }
}

/// Checks that each rank shows the progress of all ranks.
void CheckNumbers(Communicator& ranks)
{
  SharedProgress together(ranks);
  double lastBytes = 0, lastFraction = 0;
  std::atomic<int> done{0};
  RunTasks(
      200 * (Rank + 1), 1,
      [&](std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done;
      },
      [&](double fraction) {
        ReadProgress now{fraction, static_cast<std::uint64_t>(done), std::uint64_t(200 * (Rank + 1)), 0};
        together.Step(now, false);
        const ReadProgress& all = together.Total();
        Expect(all.Bytes <= all.BytesToRead && all.Bytes >= lastBytes, "bytes of all ranks");
        Expect(all.Fraction >= lastFraction && all.Fraction <= 1, "fraction of all ranks");
        lastBytes = static_cast<double>(all.Bytes);
        lastFraction = all.Fraction;
        return true;
      });
  together.Finish([] { return false; });
  const std::uint64_t sum = 100 * ranks.Size() * (ranks.Size() + 1);
  Expect(
      together.Total().BytesToRead == sum && together.Total().Bytes == sum, "bytes of all ranks at the end");
  Expect(together.Total().Fraction == 1, "the end is not everything");
}

}  // namespace
}  // namespace patchio

int main(int argc, char** argv)
{
  using namespace patchio;
  return patchio::testing::RunOnRanks(argc, argv, "all ranks stop together", [](Communicator& ranks) {
    CheckThatAllEnd(ranks);
    CheckThatOneStopsAll(ranks);
    CheckThatOneStopsWhileItWaits(ranks);
    CheckThatHangingRequestsAreLeft(ranks);
    CheckNumbers(ranks);
    CheckThatWorkIsStopped(ranks);
    CheckThatWorkIsDone(ranks);
    CheckThatFaultsOfWorkAreEverybodys(ranks);
    testing::CheckThatAllLackMemory(ranks);
  });
}
