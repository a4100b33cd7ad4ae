#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Base/Text.h"
#include "Probe/Compare.h"
#include "Probe/Findings.h"
#include "Probe/Plot.h"
#include "Probe/ProbeFolder.h"
#include "Probe/Progress.h"
#include "Probe/Quick.h"
#include "Probe/Result.h"
#include "Probe/Settings.h"
#include "Probe/Statistics.h"
#include "Probe/Study.h"
#include "PythonScript.h"
#include "Session.h"
#include "Subcommands.h"
#include "Tuning/Mount.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

namespace patchio::tools {
namespace {

namespace fs = std::filesystem;
using namespace probe;

// ---- the study
// -----------------------------------------------------------------------------------------------

std::string DefaultOutput()
{
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  std::strftime(date, sizeof(date), "%Y%m%d-%H%M%S", ::localtime_r(&now, &parts));
  return fmt::format("probe_{}_{}", MachineName(), date);
}

/// The folder for results. Where it was made, and stays empty, it goes at the end.
class OutputFolder
{
public:
  /// Collective; rank 0 makes it, and only rank 0's name of it counts. Throws Error.
  OutputFolder(const Settings& settings, Session& session) : Name(settings.Output)
  {
    RunOnAllRanks(session.Ranks(), [&] {
      if (session.Root()) {
        this->Name = this->Name.empty() ? DefaultOutput() : this->Name;
        std::error_code fault;
        this->Made = fs::create_directories(this->Name, fault);
        if (fault) {
          throw SystemError(this->Name, "a folder for results", fault.value(), "Choose another --output");
        }
      }
    });
  }
  ~OutputFolder()
  {
    if (this->Made) {
      ::rmdir(this->Name.c_str());  // nothing happens where something is in it
    }
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& Path() const { return this->Name; }

private:
  std::string Name;
  bool Made = false;
};

/// The best block of each function and view, as a table.
std::string SummaryOf(const Result& result)
{
  std::map<std::pair<std::string, View>, const PointResult*> best;
  for (const auto& [key, point] : result.Points) {
    const PointResult*& other = best[{key.Function, key.Shape}];
    if (!other || SpreadOf(point.Rates).Mean > SpreadOf(other->Rates).Mean) {
      other = &point;
    }
  }
  std::string text = fmt::format("{:<20} {:<12} {:>12} {:>12} {:>14} {:>14} {:>14}\n", "function", "view",
      "best: block", "file", "min KB/s", "mean KB/s", "max KB/s");
  for (const auto& [key, point] : best) {
    if (point->Rates.empty()) {
      text += fmt::format("{:<20} {:<12} no rate: {}\n", key.first, NameOf(key.second), point->Error);
      continue;
    }
    const Spread spread = SpreadOf(point->Rates);
    text += fmt::format("{:<20} {:<12} {:>12} {:>12} {:>14.0f} {:>14.0f} {:>14.0f}\n", key.first,
        NameOf(key.second), SizeText(point->Key.Block), SizeText(point->Key.FileBytes), spread.Min / 1000,
        spread.Mean / 1000, spread.Max / 1000);
  }
  return text;
}

std::string FeaturesOf(const Result& result)
{
  std::string text;
  for (const FeatureResult& feature : result.Features) {
    const Feature& shown = feature.Stable ? feature.Again : feature.First;
    text += fmt::format("{} of {} {} at blocks of {} ({} in a file of {}): {}\n", shown.Peak ? "peak" : "dip",
        feature.Function, NameOf(feature.Shape), SizeText(shown.Block),
        fmt::format("{:.2f} of its neighbours", shown.Height), SizeText(feature.FileBytes),
        feature.Stable ? "stable" : "not reproduced");
  }
  return text;
}

std::string InfluenceOf(const Result& result)
{
  std::string text;
  for (const InfluenceResult& row : result.Influence) {
    text += fmt::format(
        "simultaneous reads and writes, blocks of {}: reads at {:.2f}, writes at {:.2f} of their rate "
        "alone\n",
        SizeText(row.Block), SpreadOf(row.ReadBoth).Mean / SpreadOf(row.ReadAlone).Mean,
        SpreadOf(row.WriteBoth).Mean / SpreadOf(row.WriteAlone).Mean);
  }
  return text;
}

void DrawInto(const std::vector<std::string>& results, const std::string& folder, const std::string& python,
    const Session& session)
{
  const std::string fault = DrawPlots(results, folder, python);
  if (fault.empty()) {
    session.Print("plots: " + folder);
  } else {
    session.Warn("The plots are missing: " + fault);
  }
}

bool HasWrongValues(const Result& result)
{
  return std::any_of(
      result.Points.begin(), result.Points.end(), [](const auto& entry) { return entry.second.WrongValues; });
}

void RunFull(const Settings& settings, const std::string& output, Session& session)
{
  const Result result = RunStudy(session, settings, output);
  if (session.Root()) {
    session.Print(SummaryOf(result) + FeaturesOf(result) + InfluenceOf(result));
    session.Print(FindingsAsText(JudgeFindings({result})));
    session.Print(fmt::format("results: {}/result.json, {}/matrices.csv", output, output));
    if (!settings.NoPlots && !result.Points.empty() && result.WhyIncomplete != Interruption) {
      DrawInto({output + "/result.json"}, output + "/plots", settings.Python, session);
    }
    if (!result.Complete) {
      session.Warn("The study is incomplete: " + result.WhyIncomplete + ".");
    }
  }
  const bool wrong = session.Root() && HasWrongValues(result);
  RunOnAllRanks(session.Ranks(), [&] {
    if (result.WhyIncomplete == Interruption) {
      throw Error(fmt::format("Interrupted. The measurements so far are in {}/result.json.", output));
    }
    if (wrong) {
      throw Error("Some functions read or wrote wrong values. See result.json for their names.");
    }
  });
}

void RunQuickAndDraw(const Settings& settings, const std::string& output, Session& session)
{
  RunQuick(settings, output, session);
  if (session.Root() && !settings.NoPlots) {
    DrawInto({output + "/result.json"}, output + "/plots", settings.Python, session);
  }
}

/// Existing files lie on one storage, which is that of the folder, where one is given too.
void CheckExisting(Settings& settings)
{
  if (settings.Directory.empty() && !settings.Existing.empty()) {
    settings.Directory = settings.Existing.front();
  }
  const auto pointOf = [](const std::string& path) { return MountOf(path).value_or(Mount()).Point; };
  for (const std::string& path : settings.Existing) {
    if (pointOf(path) != pointOf(settings.Directory)) {
      throw Error(
          fmt::format("probe --existing: expected all files on one storage, found {} on {} and {} on {}.",
              path, pointOf(path), settings.Directory, pointOf(settings.Directory)));
    }
  }
}

/// What probes that were killed have left.
void CleanUp(const std::string& directory, const Session& session)
{
  if (session.Root()) {
    const ProbeFolders found = RemoveDeadProbeFolders(directory);
    for (const std::string& folder : found.Removed) {
      session.Print(fmt::format("removed: {}, left by an interrupted probe", folder));
    }
    for (const std::string& folder : found.Left) {
      session.Warn(
          fmt::format("{} belongs to a probe on another machine or by another user. Remove it if that probe "
                      "no longer runs.",
              folder));
    }
  }
}

void RunProbe(Settings& settings, Session& session)
{
  try {
    CheckSettings(settings, session.Ranks().Size());
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  CheckExisting(settings);
  if (settings.Directory.empty()) {
    throw UsageError(
        "probe: give a folder on the storage to measure, or one of the subcommands compare, findings, plot.");
  }
  if (settings.Existing.empty()) {
    CleanUp(settings.Directory, session);
    // Where nothing can be written, that is said before anything is announced.
    RunOnAllRanks(session.Ranks(), [&] {
      if (session.Root()) {
        ::rmdir(MakeProbeFolder(settings.Directory).c_str());
      }
    });
  }
  const OutputFolder output(settings, session);
  if (settings.Full || settings.Study) {
    RunFull(settings, output.Path(), session);
  } else {
    RunQuickAndDraw(settings, output.Path(), session);
  }
}

// ---- results
// -------------------------------------------------------------------------------------------------

struct ResultOptions
{
  std::vector<std::string> Results;
  std::string Csv;
  std::string Output;
  std::string Python;
};

/// The user's name of a result, or what tells it best.
std::string NameOfResult(const Result& result, const std::string& path)
{
  return result.Label.empty() ? fmt::format("{} ({}, {}, MPI-IO {})", path, CountText(result.Ranks, "rank"),
                                    result.Mpi, result.MpiIo)
                              : result.Label;
}

void RunCompare(const ResultOptions& options, Session& session)
{
  RunOnAllRanks(session.Ranks(), [&] {
    if (session.Root()) {
      const Result a = LoadResult(options.Results[0]), b = LoadResult(options.Results[1]);
      const Comparison comparison = Compare(a, b);
      if (comparison.Points.empty() && comparison.OnlyOne.empty()) {
        throw Error(
            fmt::format("{} and {} have no measurements in common.", options.Results[0], options.Results[1]));
      }
      session.Print(ComparisonAsText(
          comparison, NameOfResult(a, options.Results[0]), NameOfResult(b, options.Results[1])));
      if (!options.Csv.empty()) {
        ReplaceFile(options.Csv, ComparisonAsCsv(comparison));
      }
      if (!options.Output.empty()) {
        DrawInto(options.Results, options.Output, options.Python, session);
      }
    }
  });
}

/// The picture, drawn from a file beside it that stays: all numbers are in there.
void DrawFindings(const std::vector<Finding>& findings, const ResultOptions& options, Session& session)
{
  const std::string file = fs::path(options.Output).replace_extension(".json").string();
  std::ofstream out(file);
  out << FindingsAsJson(findings).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  if (!out.flush()) {
    throw FileError(file, "a file that can be written", "none", "Choose another file for the plot");
  }
  session.Warn(tools::RunPythonScript("plot_findings.py", {file, options.Output}, options.Python));
}

void RunFindings(const ResultOptions& options, Session& session)
{
  RunOnAllRanks(session.Ranks(), [&] {
    if (session.Root()) {
      std::vector<Result> results;
      for (const std::string& path : options.Results) {
        results.push_back(LoadResult(path));
        session.Warn(results.back().Complete
                         ? std::string()
                         : fmt::format("{} is incomplete: {}.", path, results.back().WhyIncomplete));
      }
      const std::vector<Finding> findings = JudgeFindings(results);
      session.Print(FindingsAsText(findings));
      if (!options.Output.empty()) {
        DrawFindings(findings, options, session);
      }
    }
  });
}

void RunPlot(const ResultOptions& options, Session& session)
{
  RunOnAllRanks(session.Ranks(), [&] {
    if (session.Root()) {
      for (const std::string& path : options.Results) {
        LoadResult(path);
      }
      const fs::path beside = fs::path(options.Results.front()).parent_path() / "plots";
      DrawInto(options.Results, options.Output.empty() ? beside.string() : options.Output, options.Python,
          session);
    }
  });
}

void AddCompare(CLI::App& probe, Session& session)
{
  CLI::App* command = probe.add_subcommand(
      "compare", "Compare two results: which points differ by more than noise, and by how much");
  const auto options = std::make_shared<ResultOptions>();
  command->add_option("results", options->Results, "Two result.json files")->required()->expected(2);
  command->add_option("--csv", options->Csv, "Write the ratios of all points into this file");
  command->add_option("--plots", options->Output, "Folder for plots");
  command->add_option("--python", options->Python, "Python interpreter for plots; requires matplotlib");
  command->callback([options, &session] { RunCompare(*options, session); });
}

void AddFindings(CLI::App& probe, Session& session)
{
  CLI::App* command = probe.add_subcommand("findings",
      "Test published findings about MPI-IO (small blocks, collective functions, shared pointers, file size, "
      "ranks) against results, which may have different numbers of ranks");
  const auto options = std::make_shared<ResultOptions>();
  command->add_option("results", options->Results, "One or more result.json files")->required();
  command->add_option(
      "--plot", options->Output, "Plot the findings into this file, NAME.png; NAME.json gets their numbers");
  command->add_option("--python", options->Python, "Python interpreter for plots; requires matplotlib");
  command->callback([options, &session] { RunFindings(*options, session); });
}

void AddPlot(CLI::App& probe, Session& session)
{
  CLI::App* command = probe.add_subcommand("plot", "Plot existing results");
  const auto options = std::make_shared<ResultOptions>();
  command->add_option("results", options->Results, "One result.json file, or two to compare")
      ->required()
      ->expected(1, 2);
  command->add_option(
      "-o,--output", options->Output, "Folder for the plots (default: plots, in the folder of the result)");
  command->add_option("--python", options->Python, "Python interpreter for plots; requires matplotlib");
  command->callback([options, &session] { RunPlot(*options, session); });
}

}  // namespace

void AddProbe(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("probe",
      "Measure a storage: either quickly, to find the best number of threads for the reader, or all "
      "functions of MPI-IO in a study. Run it as you run the programs that will use the storage, under "
      "mpirun or alone");
  const auto settings = std::make_shared<Settings>();
  command->add_option("directory", settings->Directory,
      "Folder on the storage; probe creates test files in it and removes them");
  AddSettings(*command, *settings);
  AddCompare(*command, session);
  AddFindings(*command, session);
  AddPlot(*command, session);
  command->callback([command, settings, &session] {
    if (command->get_subcommands().empty()) {
      RunProbe(*settings, session);
    }
  });
}

}  // namespace patchio::tools
