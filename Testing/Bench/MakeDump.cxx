// Writes a SAMRAI dump of any number of equal patches and variables for benchmarks. Each rank writes a file.
#include "Driver.h"
#include "MadeUpStep.h"
#include "SamraiDump.h"

namespace patchio::bench {
namespace {

struct Options
{
  std::string Directory;
  int Patches = 1000;
  int Size = 16;
  int Variables = 1;
};

/// Sets values that are fast to compute, and differ within a patch and between patches.
void FillValues(int patch, int variable, int, std::vector<double>& values)
{
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = patch + 1000.0 * variable + 1e-3 * static_cast<double>(i % 4096);
  }
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Writes a SAMRAI dump for measuring");
  program.add_option("DIRECTORY", options->Directory)->required();
  program.add_option("--patches", options->Patches)->check(CLI::Range(1, 10'000'000));
  program.add_option("--size", options->Size, "cells per axis of a patch")->check(CLI::Range(1, 1024));
  program.add_option("--variables", options->Variables)->check(CLI::Range(0, 1000));
  return [options] {
    const Catalog catalog =
        CubeOfPatches(options->Patches, options->Size, options->Variables, Ranks().Size());
    draft::WriteDump(Ranks(), options->Directory, catalog, FillValues);
    return nlohmann::json();
  };
}

}  // namespace patchio::bench
