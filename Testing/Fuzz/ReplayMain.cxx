// Runs the fuzz targets on files, without a fuzzer.
//
//   patchio_fuzz_replay --list
//   patchio_fuzz_replay --seeds FOLDER        writes valid inputs of each target to FOLDER/TARGET/
//   patchio_fuzz_replay --all FOLDER          runs each target with its seeds and the files in FOLDER/TARGET/
//   patchio_fuzz_replay --bytes TARGET STEP   runs a target with its seeds, each STEP-th byte wrong in turn
//   patchio_fuzz_replay TARGET FILE...
#include "SoundFiles.h"
#include "Targets.h"
#include "TestTools.h"

#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace patchio::fuzz;

namespace {

int faults = 0;

void Run(const Target& target, const std::string& name, const std::string& bytes)
{
  // Printed before the run, so that a crash has a name.
  std::printf("%s %s\n", target.Name, name.c_str());
  std::fflush(stdout);
  try {
    RunTarget(target, bytes);
  } catch (const std::exception& error) {
    std::printf("FAILED: an exception that nobody expects: %s\n", error.what());
    ++faults;
  }
}

std::size_t RunAll(const std::string& folder)
{
  std::size_t inputs = 0;
  for (const Target& target : AllTargets()) {
    const std::vector<std::string> seeds = target.Seeds();
    for (const std::string& seed : seeds) {
      Run(target, "seed", seed);
      if (!Refusal().empty()) {
        std::printf("FAILED: a sound input is refused: %s\n", Refusal().c_str());
        ++faults;
      }
    }
    std::vector<std::string> files;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(folder) / target.Name, none)) {
      files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      Run(target, file, patchio::testing::ReadBytes(file));
    }
    // Restores valid files for the next target.
    if (!seeds.empty()) {
      RunTarget(target, seeds.front());
    }
    inputs += seeds.size() + files.size();
  }
  return inputs;
}

/// Runs the seeds with single wrong bytes. Prints the current place, which remains after a crash.
int RunBytes(const Target& target, std::size_t step)
{
  H5dont_atexit();  // HDF5 2 aborts at the end of a program if damaged files are still open
  std::size_t inputs = 0, refused = 0;
  for (const std::string& seed : target.Seeds()) {
    std::string bytes = seed;
    for (std::size_t place = 0; place < bytes.size(); place += step) {
      for (const int wrong : {0xff, 0, seed[place] ^ 1, seed[place] + 0x40}) {
        bytes[place] = static_cast<char>(wrong);
        std::fprintf(stderr, "\r%s byte %zu of %zu", target.Name, place, bytes.size());
        RunTarget(target, bytes);
        ++inputs;
        refused += Refusal().empty() ? 0 : 1;
      }
      bytes[place] = seed[place];
    }
  }
  std::printf("\npassed: %zu inputs, %zu of them refused\n", inputs, refused);
  return refused > 0 ? 0 : 1;  // otherwise the target has checked nothing
}

void WriteSeeds(const std::string& folder)
{
  for (const Target& target : AllTargets()) {
    fs::create_directories(fs::path(folder) / target.Name);
    int number = 0;
    for (const std::string& seed : target.Seeds()) {
      patchio::testing::WriteText(
          (fs::path(folder) / target.Name / ("seed" + std::to_string(number++))).string(), seed);
    }
  }
}

}  // namespace

int main(int argc, char** argv)
{
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "--list") {
    for (const Target& target : AllTargets()) {
      std::printf("%s\n", target.Name);
    }
    return 0;
  }
  if (words.size() == 2 && words[0] == "--seeds") {
    WriteSeeds(words[1]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--all") {
    const std::size_t inputs = RunAll(words[1]);
    std::printf("%s: %zu inputs, %d faults\n", faults ? "FAILED" : "passed", inputs, faults);
    return faults ? 1 : 0;
  }
  if (words.size() == 3 && words[0] == "--bytes" && FindTarget(words[1])) {
    return RunBytes(*FindTarget(words[1]), std::stoul(words[2]));
  }
  const Target* const target = words.empty() ? nullptr : FindTarget(words[0]);
  if (!target) {
    std::fprintf(stderr,
        "usage: patchio_fuzz_replay --list | --seeds FOLDER | --all FOLDER | --bytes TARGET STEP | TARGET "
        "FILE...\n");
    return 2;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    Run(*target, words[i], patchio::testing::ReadBytes(words[i]));
    std::printf("%s\n", Refusal().empty() ? "taken" : ("refused: " + Refusal()).c_str());
  }
  return faults ? 1 : 0;
}
