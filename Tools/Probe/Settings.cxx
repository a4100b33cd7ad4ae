#include "Probe/Settings.h"

#include "Base/Error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace patchio::probe {
namespace {

constexpr std::uint64_t LeastTest = std::uint64_t(16) << 20;
constexpr std::uint64_t MostFile = std::uint64_t(1) << 50;

void Require(bool isValid, const std::string& option, const std::string& expected, const std::string& found)
{
  if (!isValid) {
    throw Error(fmt::format("probe --{}: expected {}, found {}.", option, expected, found));
  }
}

template <typename T>
void SortUnique(std::vector<T>& values)
{
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::uint64_t GreatestSize(const StudySelection& selection, int rankCount, std::uint64_t piece)
{
  return DivisibleSize(selection.Sizes.back(), rankCount, piece);
}

/// Moves the option to the help's group "Study". If the user gives the option, the command runs the study.
CLI::Option* AddToStudyGroup(Settings& settings, CLI::Option* option)
{
  return option->group("Study")->each([&settings](const std::string&) { settings.HasStudyOptions = true; });
}

/// Moves the option to the help's group "Quick", and records whether the user gives the option.
CLI::Option* AddToQuickGroup(Settings& settings, CLI::Option* option)
{
  return option->group("Quick")->each([&settings, option](const std::string&) {
    std::vector<std::string>& options = settings.GivenQuickOptions;
    if (std::find(options.begin(), options.end(), option->get_name()) == options.end()) {
      options.push_back(option->get_name());
    }
  });
}

/// Makes the option a size in bytes, with k, M and G as powers of 1024. Rejects negative numbers, which would
/// become large numbers.
CLI::Option* AsSize(CLI::Option* option)
{
  return option->transform(CLI::AsSizeValue(false))->transform([](const std::string& text) {
    if (text.find('-') != std::string::npos) {
      throw CLI::ValidationError(fmt::format("expected a size in bytes, found {}", text));
    }
    return text;
  });
}

void AddQuickSettings(CLI::App& command, Settings& settings)
{
  AddToQuickGroup(settings,
      command.add_option("--seconds", settings.QuickSeconds, "Approximate duration in seconds, 1 to 3600"))
      ->capture_default_str();
  AsSize(AddToQuickGroup(settings,
             command.add_option("--test-bytes", settings.QuickBytes, "Size of test files, at least 16M")))
      ->capture_default_str();
  AddToQuickGroup(
      settings, command.add_option("--existing", settings.Existing,
                    "Read these files, or the files in these folders, instead of writing test files"))
      ->delimiter(',');
  AddToQuickGroup(
      settings, command.add_flag("--no-save", settings.NoSave, "Do not save the profile for the reader"));
  AddToQuickGroup(
      settings, command.add_flag("--force", settings.Force,
                    "Save the profile for the reader even if the existing profile is more reliable"));
}

/// Adds the options for the scope of the study.
void AddStudyScope(CLI::App& command, Settings& settings)
{
  AddToStudyGroup(
      settings, command.add_option("--functions", settings.Functions,
                    "Functions (read_at_all, pread, ...) or groups of functions, separated by commas: "
                    "all, reads, writes, explicit, individual-pointer, shared, posix, collective, "
                    "individual, blocking, nonblocking, split"))
      ->delimiter(',')
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_option("--views", settings.Views, "Views: own, whole, interleaved"))
      ->delimiter(',')
      ->capture_default_str();
  AsSize(AddToStudyGroup(
             settings, command.add_option("--sizes", settings.Sizes, "File sizes, for example 16M,1G")))
      ->delimiter(',')
      ->capture_default_str();
  AsSize(AddToStudyGroup(settings, command.add_option("--blocks", settings.Blocks,
                                       "Block sizes (bytes per call and rank), for example 64k,1M")))
      ->delimiter(',')
      ->capture_default_str();
  AsSize(AddToStudyGroup(settings,
             command.add_option("--piece", settings.PieceBytes, "Bytes per piece of the interleaved view")))
      ->capture_default_str();
}

/// Adds the options for the method of the study.
void AddStudyMethod(CLI::App& command, Settings& settings)
{
  AddToStudyGroup(
      settings, command.add_option("--repetitions", settings.Repetitions, "Number of measurements per point"))
      ->capture_default_str();
  AddToStudyGroup(
      settings, command.add_option("--budget", settings.Budget, "Total time limit in seconds; 0: no limit"))
      ->capture_default_str();
  AddToStudyGroup(
      settings, command.add_option("--most-seconds", settings.MostSeconds,
                    "Time limit of one measurement in seconds; the measurement skips the rest of the file"))
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_flag("--no-sync", settings.NoSync,
                                "Measure write rates without the time of the sync to the storage"));
  AddToStudyGroup(settings, command.add_option("--in-flight", settings.Concurrency,
                                "Number of concurrent non-blocking calls per rank"))
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_option("--features", settings.Features,
                                "Number of peaks and dips to measure again, the most certain first"))
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_option("--feature-repetitions", settings.FeatureRepetitions,
                                "Number of measurements of each block size near a peak or dip"))
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_option("--influence", settings.InfluenceSeconds,
                                "Seconds per measurement of simultaneous reads and writes; 0: skip them"))
      ->capture_default_str();
  AddToStudyGroup(settings, command.add_option("--writers", settings.Writers,
                                "Number of ranks that write while the others read; 0: half of the ranks"))
      ->capture_default_str();
  AddToStudyGroup(
      settings, command.add_option("--seed", settings.Seed, "Seed for the random order of measurements"))
      ->capture_default_str();
}

std::string NumberText(double value)
{
  return fmt::format("{}", value);
}

/// Checks the numbers among the options of the study. Throws Error if a number is invalid.
void CheckStudyNumbers(const Settings& settings, int rankCount)
{
  Require(settings.Repetitions >= 1 && settings.Repetitions <= 10000, "repetitions", "1 to 10000",
      NumberText(settings.Repetitions));
  Require(settings.FeatureRepetitions >= 2 && settings.FeatureRepetitions <= 10000, "feature-repetitions",
      "2 to 10000", NumberText(settings.FeatureRepetitions));
  Require(settings.Features >= 0, "features", "0 or more", NumberText(settings.Features));
  Require(std::isfinite(settings.Budget) && settings.Budget >= 0, "budget", "seconds, 0 or more",
      NumberText(settings.Budget));
  Require(std::isfinite(settings.MostSeconds) && settings.MostSeconds > 0, "most-seconds", "more than 0",
      NumberText(settings.MostSeconds));
  Require(settings.Concurrency >= 1 && settings.Concurrency <= 1024, "in-flight", "1 to 1024",
      NumberText(settings.Concurrency));
  Require(settings.InfluenceSeconds >= 0 && settings.InfluenceSeconds <= 3600, "influence",
      "0 to 3600 seconds", NumberText(settings.InfluenceSeconds));
  Require(settings.Writers >= 0 && settings.Writers < std::max(2, rankCount), "writers",
      "less than the number of ranks", NumberText(settings.Writers));
}

}  // namespace

void AddSettings(CLI::App& command, Settings& settings)
{
  command.add_flag("--quick", settings.Quick,
      "Find the best number of threads for the reader in 1 to 2 minutes (default)");
  command.add_flag(
      "--full", settings.Full, "Run the study: all functions, views, file sizes and block sizes");
  command.add_option("-o,--output", settings.Output, "Folder for the results (default: ./probe_HOST_DATE)");
  command.add_option("--label", settings.Label, "Name of the result in comparisons and plots");
  command.add_flag("--no-plots", settings.NoPlots, "Do not draw plots");
  command.add_option(
      "--python", settings.Python, "Python interpreter for findings and plots; plots require matplotlib");
  AddQuickSettings(command, settings);
  AddStudyScope(command, settings);
  AddStudyMethod(command, settings);
}

StudySelection CheckSettings(const Settings& settings, int rankCount)
{
  Require(!(settings.Quick && (settings.Full || settings.HasStudyOptions)), "quick",
      "no options of the study", "options of the study");
  Require(!(settings.Full || settings.HasStudyOptions) || settings.GivenQuickOptions.empty(), "full",
      "no options of the quick mode", fmt::format("{}", fmt::join(settings.GivenQuickOptions, ", ")));
  Require(settings.QuickSeconds >= 1 && settings.QuickSeconds <= 3600, "seconds", "1 to 3600",
      NumberText(settings.QuickSeconds));
  Require(settings.QuickBytes >= LeastTest && settings.QuickBytes <= MostFile, "test-bytes", "16M to 1024T",
      fmt::format("{} bytes", settings.QuickBytes));
  StudySelection selection;
  selection.Functions = SelectFunctions(settings.Functions);
  for (const std::string& name : settings.Views) {
    selection.Views.push_back(ViewNamed(name));
  }
  selection.Sizes = settings.Sizes;
  selection.Blocks = settings.Blocks;
  SortUnique(selection.Views);
  SortUnique(selection.Sizes);
  SortUnique(selection.Blocks);
  Require(settings.PieceBytes >= 1 && settings.PieceBytes <= 1u << 30, "piece", "1 byte to 1 GiB",
      NumberText(settings.PieceBytes));
  for (const std::uint64_t block : selection.Blocks) {
    Require(block >= 8 && block <= MostBlock && block % 8 == 0, "blocks", "multiples of 8 bytes up to 1 GiB",
        fmt::format("{} bytes", block));
  }
  for (const std::uint64_t size : selection.Sizes) {
    Require(size <= MostFile && DivisibleSize(size, rankCount, settings.PieceBytes) > 0, "sizes",
        fmt::format("at least {} bytes, for {} ranks and pieces of {} bytes, and at most 1 PiB",
            std::lcm(settings.PieceBytes, std::uint64_t{8}) * rankCount, rankCount, settings.PieceBytes),
        fmt::format("{} bytes", size));
  }
  Require(selection.Blocks.front() <= GreatestSize(selection, rankCount, settings.PieceBytes), "blocks",
      "a block that fits into the largest file", fmt::format("{} bytes", selection.Blocks.front()));
  CheckStudyNumbers(settings, rankCount);
  return selection;
}

}  // namespace patchio::probe
