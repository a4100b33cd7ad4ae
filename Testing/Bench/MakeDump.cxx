// Writes a SAMRAI dump of any number of equal patches and variables for benchmarks. Each rank writes a file.
#include "RunUnderMpi.h"
#include "SamraiDump.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace {

using namespace patchio;

struct Options
{
  std::string Directory;
  int Patches = 1000;
  int Size = 16;
  int Variables = 1;
};

/// Returns patches in a cube, row by row. Rank r of n writes the r-th of n equal parts.
Catalog MakeCatalog(const Options& options, int rankCount)
{
  const int side = static_cast<int>(std::ceil(std::cbrt(options.Patches) - 1e-9));
  Catalog catalog;
  Level level;
  level.PatchCount = options.Patches;
  catalog.Levels.push_back(level);
  for (int p = 0; p < options.Patches; ++p) {
    Patch patch;
    const int position[3] = {p % side, p / side % side, p / side / side};
    for (int axis = 0; axis < 3; ++axis) {
      patch.Cells.Lower[axis] = position[axis] * options.Size;
      patch.Cells.Upper[axis] = patch.Cells.Lower[axis] + options.Size - 1;
    }
    patch.Number = p;
    patch.Writer = static_cast<int>(std::int64_t(p) * rankCount / options.Patches);
    catalog.Patches.push_back(patch);
  }
  for (int v = 0; v < options.Variables; ++v) {
    Variable variable;
    variable.Name = "v" + std::to_string(v);
    catalog.Variables.push_back(variable);
  }
  return catalog;
}

/// Sets values that are fast to compute, and differ within a patch and between patches.
void FillValues(int patch, int variable, int, std::vector<double>& values)
{
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = patch + 1000.0 * variable + 1e-3 * static_cast<double>(i % 4096);
  }
}

int Run(int argc, char** argv)
{
  Options options;
  CLI::App program("Writes a SAMRAI dump for measuring", "patchio_bench_make");
  program.add_option("DIRECTORY", options.Directory)->required();
  program.add_option("--patches", options.Patches)->check(CLI::Range(1, 10'000'000));
  program.add_option("--size", options.Size, "cells per axis of a patch")->check(CLI::Range(1, 1024));
  program.add_option("--variables", options.Variables)->check(CLI::Range(0, 1000));
  CLI11_PARSE(program, argc, argv);
  const auto ranks = MakeMpiCommunicator(MPI_COMM_WORLD);
  draft::WriteDump(*ranks, options.Directory, MakeCatalog(options, ranks->Size()), FillValues);
  return 0;
}

}  // namespace

int main(int argc, char** argv)
{
  return RunUnderMpi(argc, argv, "patchio_bench_make", Run);
}
