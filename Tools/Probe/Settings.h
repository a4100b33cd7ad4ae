// The options of `patchio probe`.
#pragma once

#include "Probe/Functions.h"
#include "Probe/TestData.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace patchio::probe {

/// As given on the command line; sizes in bytes, times in seconds.
struct Settings
{
  std::string Directory;
  std::string Output;  ///< empty: ./probe_HOST_DATE
  std::string Label;
  bool Quick = false;
  double QuickSeconds = 80;
  std::uint64_t QuickBytes = std::uint64_t(1) << 30;
  std::vector<std::string> Existing;  ///< files to read in the quick mode, in place of test files
  bool NoSave = false;                ///< of the profile
  bool Force = false;                 ///< keep the profile even where the one that is there is surer
  bool Full = false;
  std::vector<std::string> Functions{"all"};
  std::vector<std::string> Views{"own", "whole", "interleaved"};
  std::vector<std::uint64_t> Sizes{16u << 20, 64u << 20, 256u << 20};
  std::vector<std::uint64_t> Blocks{
      4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20, 4u << 20, 16u << 20};
  std::uint64_t Piece = 1u << 10;
  int Repetitions = 3;
  double Budget = 0;  ///< 0: as long as it takes
  double MostSeconds = 20;
  bool NoSync = false;
  int InFlight = 1;
  int Features = 6;            ///< peaks and dips to look at again
  int FeatureRepetitions = 6;  ///< of each block size then
  double InfluenceSeconds = 0.5;
  int Writers = 0;  ///< 0: half of the ranks
  std::uint64_t Seed = 1;
  bool NoPlots = false;
  std::string Python;  ///< empty: the first that has matplotlib

  /// The study's options were given, so the study is wanted.
  bool Study = false;
  std::vector<std::string> QuickGiven;  ///< the options of the quick mode that were given: "--seconds"
};

/// Fills `settings` when the command line is parsed; `settings` must outlive `command`.
void AddSettings(CLI::App& command, Settings& settings);

/// The settings, checked for `ranks` ranks.
struct Choice
{
  std::vector<Function> Functions;
  std::vector<View> Views;
  std::vector<std::uint64_t> Sizes, Blocks;  ///< sorted, each once
};

/// Throws Error where the settings make no sense.
Choice CheckSettings(const Settings& settings, int ranks);

/// The largest block: counts of MPI are int, and memory is to be had for several.
constexpr std::uint64_t MostBlock = std::uint64_t(1) << 30;

}  // namespace patchio::probe
