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

/// The options as given on the command line. Sizes are in bytes, and times are in seconds.
struct Settings
{
  std::string Directory;
  std::string Output;  ///< empty: ./probe_HOST_DATE
  std::string Label;
  bool Quick = false;
  double QuickSeconds = 80;
  std::uint64_t QuickBytes = std::uint64_t(1) << 30;
  std::vector<std::string> Existing;  ///< files or folders to read in the quick mode instead of test files
  bool NoSave = false;                ///< true: the probe does not save the profile for the reader
  bool Force = false;  ///< true: the probe saves the profile even if the existing profile is more reliable
  bool Full = false;
  std::vector<std::string> Functions{"all"};
  std::vector<std::string> Views{"own", "whole", "interleaved"};
  std::vector<std::uint64_t> Sizes{16u << 20, 64u << 20, 256u << 20};
  std::vector<std::uint64_t> Blocks{
      4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20, 4u << 20, 16u << 20};
  std::uint64_t PieceBytes = 1u << 10;
  int Repetitions = 3;
  double Budget = 0;  ///< time for the whole study; 0: no limit
  double MostSeconds = 20;
  bool NoSync = false;
  int Concurrency = 1;
  int Features = 6;               ///< number of peaks and dips to measure again
  int FeatureRepetitions = 6;     ///< repetitions of each block size in these measurements
  double InfluenceSeconds = 0.5;  ///< duration of each measurement of simultaneous reads and writes; 0: none
  int Writers = 0;                ///< number of ranks that write while the others read; 0: half of the ranks
  std::uint64_t Seed = 1;
  bool NoPlots = false;
  std::string Python;  ///< Python interpreter; empty: see RunPythonScript()

  /// True if the user has given an option of the study, so that the command runs the study.
  bool HasStudyOptions = false;
  std::vector<std::string> GivenQuickOptions;  ///< names of the options of the quick mode that the user has
                                               ///< given, such as "--seconds"
};

/// Adds the options to `command`, whose parser stores their values in `settings`. `settings` must outlive
/// `command`.
void AddSettings(CLI::App& command, Settings& settings);

/// The selection of a study, from checked settings.
struct StudySelection
{
  std::vector<Function> Functions;
  std::vector<View> Views;
  std::vector<std::uint64_t> Sizes, Blocks;  ///< sorted, each once
};

/// Checks the settings, and returns the selection. Throws Error if a setting is invalid.
StudySelection CheckSettings(const Settings& settings, int rankCount);

/// Maximum bytes of a block: counts of MPI are int, and several blocks must fit into memory.
constexpr std::uint64_t MostBlock = std::uint64_t(1) << 30;

}  // namespace patchio::probe
