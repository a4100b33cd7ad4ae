// The quick probe on several ranks: all get the same, and no rank waits for one that gave up.
#include "Storage/QuickProbe.h"
#include "Support/Together.h"

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace fs = std::filesystem;

namespace patchio {
namespace {

int Rank = 0;
int Ranks = 1;
int Failures = 0;

void Expect(bool holds, const std::string& what)
{
  if (!holds) {
    ++Failures;
    std::printf("FAILED on rank %d: %s\n", Rank, what.c_str());
  }
}

/// A folder that all ranks know.
std::string SharedFolder()
{
  char name[512] = "";
  if (Rank == 0) {
    std::snprintf(name, sizeof(name), "%s/patchio_probe_XXXXXX", fs::temp_directory_path().c_str());
    if (!::mkdtemp(name)) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
  return name;
}

QuickProbeOptions Short()
{
  QuickProbeOptions options;
  options.Seconds = 1;
  options.TestBytes = 32 << 20;
  options.MostConcurrency = 8;
  return options;
}

/// All ranks together: the last one removes the folder of the test files.
void ExpectEmpty(const std::string& folder, const std::string& when)
{
  MPI_Barrier(MPI_COMM_WORLD);
  Expect(fs::is_empty(folder), "test files are left " + when);
  MPI_Barrier(MPI_COMM_WORLD);
}

void CheckAllGetTheSame(Communicator& comm, const std::string& folder)
{
  const QuickProbeResult result = RunQuickProbe(comm, folder, Short());
  Expect(!result.Cancelled && result.Profile.Fit.Known(), "no law was found");
  Expect(result.Profile.Ranks == Ranks, "the number of ranks");
  std::string mine = result.Profile.Fit.Text();
  for (const RateSample& sample : result.Profile.Samples) {
    mine += " " + std::to_string(sample.Concurrency) + ":" + std::to_string(sample.Rate);
    Expect(sample.Rate > 0, "a rate of nothing");
  }
  mine += " " + std::to_string(result.Profile.BlockBytes);
  for (const std::string& other : comm.AllGather(mine)) {
    Expect(other == mine, "ranks got different results");
  }
  ExpectEmpty(folder, "after measuring");
}

/// `victim` cancels while the others measure.
void CheckCancelOfOne(Communicator& comm, const std::string& folder, int victim)
{
  std::atomic<bool> cancel{false};
  QuickProbeOptions options = Short();
  options.Seconds = 50;
  options.Cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    cancel = Rank == victim;
  });
  const QuickProbeResult result = RunQuickProbe(comm, folder, options);
  canceller.join();
  Expect(result.Cancelled, "not cancelled");
  ExpectEmpty(folder, "after cancelling");
}

/// `victim` does not find what the others read.
void CheckFaultOfOne(Communicator& comm, const std::string& folder, int victim)
{
  QuickProbeOptions options = Short();
  const std::string file = folder + "/data";
  if (Rank == 0) {
    std::ofstream(file) << std::string(2 << 20, 'x');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  options.ExistingFiles = {Rank == victim ? folder + "/missing" : file};
  const std::string fault = FaultOf([&] { RunQuickProbe(comm, folder, options); });
  Expect(fault.find("missing") != std::string::npos, "the fault of another rank is unknown: " + fault);
  MPI_Barrier(MPI_COMM_WORLD);
  if (Rank == 0) {
    fs::remove(file);
  }
  const std::string nowhere = FaultOf([&] { RunQuickProbe(comm, folder + "/nowhere", Short()); });
  Expect(nowhere.find("nowhere") != std::string::npos, "no folder, and no fault: " + nowhere);
  ExpectEmpty(folder, "after a fault");
}

int Run()
{
  MPI_Comm_rank(MPI_COMM_WORLD, &Rank);
  MPI_Comm_size(MPI_COMM_WORLD, &Ranks);
  const std::string folder = SharedFolder();
  const std::unique_ptr<Communicator> comm = MakeMpiCommunicator(MPI_COMM_WORLD);
  CheckAllGetTheSame(*comm, folder);
  for (int victim = 0; victim < Ranks; ++victim) {
    CheckCancelOfOne(*comm, folder, victim);
    CheckFaultOfOne(*comm, folder, victim);
  }
  if (Rank == 0) {
    fs::remove_all(folder);
  }
  MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (Rank == 0) {
    std::printf("%d failures\n", Failures);
  }
  return Failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace patchio

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int result = patchio::Run();
  MPI_Finalize();
  return result;
}
