// All ranks choose the same number of threads while they read: mpiexec -n NP patchio_read_control_mpi_test
//
// Each rank reads from its own fake storage. So the test does not check which number is found, but that all
// ranks make the same decisions for any amount of data per rank, and that no rank waits forever.
#include "Tuning/ReadControl.h"

#include "Base/Communicator.h"
#include "Base/Memory.h"
#include "FakeSource.h"
#include "MpiTest.h"
#include "ReadForAWhile.h"
#include "Tuning/AutomaticThreads.h"

#include <fmt/format.h>

#include <mpi.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace patchio {
namespace {

using testing::Expect;
using testing::Rank;

struct Outcome
{
  std::vector<ThreadChange> Changes;
  std::size_t Windows = 0;
  int Leader = 0;
};

/// Reads `tasks` pieces of 1 kB, 2 ms each, in windows that begin at once.
Outcome Read(Communicator& ranks, ThreadController& controller, std::size_t tasks, bool cancelled, int limit)
{
  FakeBehaviour slow;
  slow.Latency = std::chrono::milliseconds(2);
  FakeSource source({std::vector<std::byte>(1000)}, slow);
  const auto file = source.Open(0);
  ReadMeter meter;
  ReadControlOptions options;
  options.MostThreadsOfRank = 16;
  options.FirstWindow = 0;
  ReadControl control(ranks, controller, options);
  if (limit > 0) {
    control.OnWindow = [limit](const ReadWindow&) { return limit; };
  }
  std::vector<std::byte> into(1000);
  std::atomic<int> atWork{0};
  testing::RunControlled(
      tasks,
      [&](std::size_t) {
        Expect(++atWork <= options.MostThreadsOfRank, "a task that there must not be");
        const ReadMeter::Task task(meter);
        const ReadMeter::Request request(meter, 1000);
        std::byte mine[1000];
        file->Read(0, mine, sizeof mine);
        --atWork;
      },
      control, meter, [&] { return !cancelled; });
  control.Finish();
  return {control.Changes(), control.Windows().size(), controller.BestSoFar()};
}

/// Expects that all ranks have used the same numbers.
void ExpectAlike(Communicator& ranks, const Outcome& outcome, const std::string& where)
{
  std::string mine = fmt::format("{} windows, best {}:", outcome.Windows, outcome.Leader);
  for (const ThreadChange& change : outcome.Changes) {
    mine += fmt::format(" {}", change.Threads);
  }
  for (const std::string& other : ranks.AllGather(mine)) {
    Expect(other == mine, where + ": " + mine + " here, and elsewhere " + other);
  }
}

ControllerOptions OptionsFor(const Communicator& ranks)
{
  ControllerOptions options;
  options.Granularity = options.Least = ranks.Size();
  options.Start = 2 * ranks.Size();
  options.Most = 16 * ranks.Size();
  return options;
}

void CheckLongReads(Communicator& ranks)
{
  ThreadController controller(OptionsFor(ranks));
  // The first rank has much more to read than the last one. Two reads use one controller.
  const std::size_t tasks = Rank == ranks.Size() - 1 ? 400 : Rank == 0 ? 3000 : 1250;
  std::size_t windows = 0;
  for (int read = 0; read < 2; ++read) {
    const Outcome outcome = Read(ranks, controller, tasks, false, 0);
    ExpectAlike(ranks, outcome, fmt::format("read {}", read));
    windows += outcome.Windows;
  }
  Expect(windows > 0, "nothing was measured in reads of seconds");
}

void CheckUnevenReads(Communicator& ranks)
{
  ThreadController controller(OptionsFor(ranks));
  // One rank has nothing to read or stops at once; all others end before or after the first window.
  ExpectAlike(ranks, Read(ranks, controller, Rank == 0 ? 0 : 300, false, 0), "nothing on rank 0");
  ExpectAlike(ranks, Read(ranks, controller, 800, Rank == 0, 0), "rank 0 stops");
  ExpectAlike(ranks, Read(ranks, controller, 0, false, 0), "nothing at all");
  ExpectAlike(ranks, Read(ranks, controller, 1, false, 0), "one task");
}

void CheckLimit(Communicator& ranks)
{
  ThreadController controller(OptionsFor(ranks));
  const Outcome outcome = Read(ranks, controller, 1500, false, 1);
  ExpectAlike(ranks, outcome, "limit");
  // There are fewer threads when a rank has read all of its data.
  Expect(outcome.Changes.back().Threads <= ranks.Size(),
      fmt::format("{} threads where one a rank is the limit", outcome.Changes.back().Threads));
}

/// Checks that all ranks have the same texts about N*, NC and their sources.
void CheckWords(Communicator& ranks)
{
  AutomaticThreads automatic;
  int asked = 0;
  automatic.SenseLoad = [&](const OwnReads&) {
    return LoadEstimate{
        static_cast<double>(++asked), 0.5, fmt::format("estimate {} of rank {}", asked, Rank)};
  };
  automatic.Begin(ranks, ".", ThreadPolicy::Balanced, 16);
  testing::ReadForAWhile(automatic, 2);
  automatic.End();
  const int last = ranks.AllGather(std::vector<int>{asked - 1})[0];
  Expect(last > 1, "no window in a read of two seconds");
  const std::string words = fmt::format("NC = {0}: estimate {0} of rank 0\n", last);
  for (const std::string& text : ranks.AllGather(automatic.Text())) {
    Expect(text.find(words) != std::string::npos, "not '" + words + "' but " + text);
  }
  Expect(automatic.Choice().Storage.Load == last, "NC is not that of its words");
}

void CheckSums(Communicator& ranks)
{
  const double all = ranks.Size();
  for (int round = 0; round < 3; ++round) {
    ranks.BeginSum({1, static_cast<double>(Rank), 9007199254740991.0 / 8});
    std::vector<double> sum;
    while (!ranks.TestSum(sum)) {
    }
    Expect(sum == std::vector<double>{all, all * (all - 1) / 2, 9007199254740991.0 / 8 * all},
        "a sum over the ranks is wrong");
  }
}

/// All ranks of a test share a machine.
void CheckMachine(Communicator& ranks)
{
  Communicator& machine = ranks.MachineCommunicator();
  Expect(machine.Rank() == Rank && machine.Size() == ranks.Size(), "ranks of the machine are not there");
  Expect(&ranks.MachineCommunicator() == &machine, "the machine is looked for again");
  const auto check = [&](double bytesOfLast) {
    return CatchError([&] { CheckMemoryOfMachines(ranks, Rank == ranks.Size() - 1 ? bytesOfLast : 0); });
  };
  Expect(check(1).empty(), "no memory for a byte");
  const std::string fault = check(1e18);
  for (const std::string& other : ranks.AllGather(fault)) {
    Expect(other == fault && other.find("'" + MachineName() + "'") != std::string::npos, "'" + other + "'");
  }
}

/// Checks that a single rank with a limit of one thread limits all ranks.
void CheckLeastOfRanks(Communicator& ranks)
{
  AutomaticThreads automatic;
  automatic.Begin(ranks, ".", ThreadPolicy::Balanced, Rank == ranks.Size() - 1 ? 1 : 16);
  Expect(automatic.Control().Threads() == 1, "more threads than the last rank can bear");
  automatic.End();
}

}  // namespace
}  // namespace patchio

int main(int argc, char** argv)
{
  using namespace patchio;
  ::setenv("PATCHIO_PROFILE_DIR", "/nowhere/at/all", 1);
  return patchio::testing::RunOnRanks(argc, argv, "all ranks decide alike", [](Communicator& ranks) {
    CheckSums(ranks);
    CheckMachine(ranks);
    CheckLeastOfRanks(ranks);
    CheckLongReads(ranks);
    CheckUnevenReads(ranks);
    CheckLimit(ranks);
    CheckWords(ranks);
  });
}
