// Output through I/O ranks: mpiexec -n NP patchio_io_ranks_mpi_test
//
// Compute ranks have uneven parts of a box, which change from step to step. For each size of memory and
// number of I/O ranks, the files must have the values of a formula, and no I/O rank may exceed its memory.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Write/Output.h"

#include "MpiTest.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

namespace patchio::output {
namespace {

using testing::Expect;
using testing::Rank;

constexpr int NX = 64, NY = 12, NZ = 3, Steps = 12, Ghosts = 2;
constexpr int StepBytes = NX * NY * NZ * (8 + 4);

double ValueAt(int variable, int step, int x, int y, int z)
{
  return 10000 * variable + 1000 * step + 100 * z + 2 * y + 0.25 * x;
}

/// Returns where a part begins. Parts are uneven, some are empty, and they differ between steps.
int BeginOf(int part, int parts, int step)
{
  int before = 0, all = 0;
  for (int p = 0; p < parts; ++p) {
    const int weight = (p + step / 3) % parts * 3 % 4;
    before += p < part ? weight : 0;
    all += weight;
  }
  return all == 0 ? NX * part / parts : NX * before / all;
}

template <typename T>
std::vector<T> Filled(int variable, int step, const Box& cells, int ghosts)
{
  std::vector<T> values;
  for (int z = 0; z < NZ; ++z) {
    for (int y = 0; y < NY; ++y) {
      for (int x = cells.Lower[0] - ghosts; x <= cells.Upper[0] + ghosts; ++x) {
        values.push_back(static_cast<T>(ValueAt(variable, step, x, y, z)));
      }
    }
  }
  return values;
}

/// Runs the simulation on the compute ranks. Returns the text of an error; empty on success.
std::string Simulate(Output& output, MPI_Comm compute)
{
  int rank = 0, ranks = 1;
  MPI_Comm_rank(compute, &rank);
  MPI_Comm_size(compute, &ranks);
  const std::string fault = CatchError([&] {
    output.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
    output.AddVariable({"u", "", ElementType::Float64, 1, Centering::Cell, {Ghosts, 0, 0}});
    output.AddVariable({"v", "", ElementType::Float32});
    for (int step = 0; step < Steps; ++step) {
      const Box mine{
          {BeginOf(rank, ranks, step), 0, 0}, {BeginOf(rank + 1, ranks, step) - 1, NY - 1, NZ - 1}};
      const bool some = mine.Lower[0] <= mine.Upper[0];
      if (step % 3 == 0) {
        output.SetPatches(
            some ? std::vector<DeclaredPatch>{{0, mine.Lower, mine.Upper}} : std::vector<DeclaredPatch>{});
      }
      const std::vector<double> u = Filled<double>(0, step, mine, Ghosts);
      const std::vector<float> v = Filled<float>(1, step, mine, 0);
      const void* values[] = {u.data(), v.data()};
      output.Write(step, step, values);
    }
  });
  return fault + CatchError([&] { output.Close(); });
}

void CheckFile(const std::string& path, const std::vector<int>& variables, const std::vector<int>& steps)
{
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::vector<float> found = UnpackValues<float>({text});
  std::vector<float> wanted;
  for (const int step : steps) {
    for (const int variable : variables) {
      const std::vector<float> more = Filled<float>(variable, step, {{0, 0, 0}, {NX - 1, NY - 1, NZ - 1}}, 0);
      wanted.insert(wanted.end(), more.begin(), more.end());
    }
  }
  Expect(found == wanted, "other values in " + path);
}

/// memory: memory of the I/O ranks, in percent of the size of a step.
void CheckOutput(const std::string& folder, int servers, const char* layout, int memory)
{
  const std::string text = fmt::format(R"({{"mode": "ranks", "io ranks": {}, "layout": "{}", "memory": "{}",
    "wait seconds": 60, "channels": [{{"path": "{}/all.ctl", "format": "grads", "overwrite": true}},
    {{"path": "{}/some.ctl", "format": "grads", "overwrite": true, "variables": ["v"],
      "windows": [{{"first": 1, "every": 5}}]}}]}})",
      servers, layout, memory * StepBytes / 100, folder, folder);
  const OutputConfig config = ReadOutputConfig(text);
  Output output(config, MPI_COMM_WORLD);
  const bool fits = memory * 9 / 10 >= 100;
  const MPI_Comm compute = output.SeparateRanks();
  if (compute == MPI_COMM_NULL) {
    Expect(
        output.PeakMemory() <= StepMemoryLimit(config.Memory), "an I/O rank that uses more than its memory");
    Expect(servers > 1 || !fits || output.PeakMemory() >= StepBytes, "a step that has no bytes");
  } else {
    const std::string fault = Simulate(output, compute);
    Expect(fits == fault.empty(), "memory " + std::to_string(memory) + ": " + fault);
    Expect(fits || fault.find("Raise \"memory\"") != std::string::npos, fault);
    Expect(output.PeakMemory() <= config.Memory, "a compute rank that uses more than its memory");
    if (fits && Rank == 0) {
      CheckFile(folder + "/all.dat", {0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
      CheckFile(folder + "/some.dat", {1}, {1, 6, 11});
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void Run(Communicator& ranks)
{
  const testing::SharedFolder folder;
  for (const int servers : std::set<int>{1, ranks.Size() / 2, ranks.Size() - 1}) {
    // Memory for a step and little more, and for some steps. Sums of parts are less if several I/O ranks
    // share them.
    CheckOutput(folder.Path(), servers, "independent", 112);
    CheckOutput(folder.Path(), servers, "shared", 350);
  }
  CheckOutput(folder.Path(), 1, "shared", 150);
  CheckOutput(folder.Path(), 1, "shared", 5000);
  CheckOutput(folder.Path(), 1, "independent", 105);
}

}  // namespace
}  // namespace patchio::output

int main(int argc, char** argv)
{
  return patchio::testing::RunOnRanks(argc, argv, "I/O ranks write what was sent", patchio::output::Run);
}
