// Tests the quick probe on several ranks: all ranks must get the same result, and no rank may wait for one
// that has given up.
#include "../Core/Tools/MpiTest.h"
#include "Base/Communicator.h"
#include "Probe/QuickProbe.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace fs = std::filesystem;

namespace patchio::probe {
namespace {

using testing::Expect;
using testing::Rank;
using testing::Ranks;

QuickProbeOptions Short()
{
  QuickProbeOptions options;
  options.Seconds = 1;
  options.TestBytes = 32 << 20;
  options.MostConcurrency = 8;
  return options;
}

/// Collective: expects an empty folder, because the last rank removes the folder of the test files.
void ExpectEmpty(const std::string& folder, const std::string& when)
{
  MPI_Barrier(MPI_COMM_WORLD);
  Expect(fs::is_empty(folder), "test files are left " + when);
  MPI_Barrier(MPI_COMM_WORLD);
}

void CheckAllGetTheSame(Communicator& ranks, const std::string& folder)
{
  const QuickProbeResult result = RunQuickProbe(ranks, folder, Short());
  Expect(!result.Cancelled && result.Profile.Fit.Known(), "no law was found");
  Expect(result.Profile.Ranks == Ranks, "the number of ranks");
  std::string mine = result.Profile.Fit.Text();
  for (const RateSample& sample : result.Profile.Samples) {
    mine += " " + std::to_string(sample.Concurrency) + ":" + std::to_string(sample.Rate);
    Expect(sample.Rate > 0, "a rate of nothing");
  }
  mine += " " + std::to_string(result.Profile.BlockBytes);
  for (const std::string& other : ranks.AllGather(mine)) {
    Expect(other == mine, "ranks got different results");
  }
  ExpectEmpty(folder, "after measuring");
}

/// Tests that `victim` cancels while the other ranks measure.
void CheckCancelOfOne(Communicator& ranks, const std::string& folder, int victim)
{
  std::atomic<bool> cancel{false};
  QuickProbeOptions options = Short();
  options.Seconds = 50;
  options.Cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    cancel = Rank == victim;
  });
  const QuickProbeResult result = RunQuickProbe(ranks, folder, options);
  canceller.join();
  Expect(result.Cancelled, "not cancelled");
  ExpectEmpty(folder, "after cancelling");
}

/// Tests that `victim` does not find the files that the other ranks read.
void CheckFaultOfOne(Communicator& ranks, const std::string& folder, int victim)
{
  QuickProbeOptions options = Short();
  const std::string file = folder + "/data";
  if (Rank == 0) {
    std::ofstream(file) << std::string(2 << 20, 'x');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  options.ExistingFiles = {Rank == victim ? folder + "/missing" : file};
  const std::string fault = CatchError([&] { RunQuickProbe(ranks, folder, options); });
  Expect(fault.find("missing") != std::string::npos, "the fault of another rank is unknown: " + fault);
  MPI_Barrier(MPI_COMM_WORLD);
  if (Rank == 0) {
    fs::remove(file);
  }
  const std::string nowhere = CatchError([&] { RunQuickProbe(ranks, folder + "/nowhere", Short()); });
  Expect(nowhere.find("nowhere") != std::string::npos, "no folder, and no fault: " + nowhere);
  ExpectEmpty(folder, "after a fault");
}

}  // namespace
}  // namespace patchio::probe

int main(int argc, char** argv)
{
  using namespace patchio::probe;
  using patchio::Communicator;
  return patchio::testing::RunOnRanks(argc, argv, "no rank waits", [](Communicator& ranks) {
    const patchio::testing::SharedFolder folder;
    CheckAllGetTheSame(ranks, folder.Path());
    for (int victim = 0; victim < Ranks; ++victim) {
      CheckCancelOfOne(ranks, folder.Path(), victim);
      CheckFaultOfOne(ranks, folder.Path(), victim);
    }
  });
}
