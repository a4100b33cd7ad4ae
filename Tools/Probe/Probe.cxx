#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Probe/Quick.h"
#include "Probe/Result.h"
#include "Probe/Settings.h"
#include "Probe/Study.h"
#include "Probe/TestFiles.h"
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

/// The folder for results. The destructor removes the folder if this object has created the folder and the
/// folder is empty.
class OutputFolder
{
public:
  /// Makes the folder on rank 0. Only rank 0 knows the name of a default folder. Throws Error, on all ranks,
  /// if the folder cannot be made. Collective: every rank of the communicator calls it.
  OutputFolder(const Settings& settings, Session& session) : Name(settings.Output)
  {
    session.OnRoot([&] {
      this->Name = this->Name.empty() ? DefaultOutput() : this->Name;
      std::error_code fault;
      this->IsCreated = fs::create_directories(this->Name, fault);
      if (fault) {
        throw SystemError(this->Name, "a folder for results", fault.value(), "Choose another --output");
      }
    });
  }
  ~OutputFolder()
  {
    if (this->IsCreated) {
      ::rmdir(this->Name.c_str());  // fails if the folder is not empty
    }
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& Path() const { return this->Name; }

private:
  std::string Name;
  bool IsCreated = false;
};

// The script that prints and plots results. Subcommands of `patchio probe` call the script's subcommands of
// the same names.
constexpr const char* Script = "judge_probe.py";

/// Runs the script with the arguments `words` after a measurement, and warns if the script fails. Returns
/// whether the script succeeded. missing: the output of the script, for the warning. The measured results
/// stay, and a subcommand can evaluate these results later. Call this function on rank 0 only.
bool RunScript(const std::vector<std::string>& words, const std::string& missing, const std::string& python,
    const Session& session)
{
  const std::string fault = CatchError([&] {
    if (RunPythonScript(Script, words, python, false) != 0) {
      throw Error(fmt::format("{} failed.", Script));
    }
  });
  session.Warn(fault.empty() ? fault : fmt::format("The {} are missing: {}", missing, fault));
  return fault.empty();
}

bool HasWrongValues(const Result& result)
{
  return std::any_of(
      result.Points.begin(), result.Points.end(), [](const auto& entry) { return entry.second.WrongValues; });
}

void RunFull(const Settings& settings, const std::string& output, Session& session)
{
  const Result result = RunStudy(session, settings, output);
  if (session.IsRoot()) {
    const bool plots = !settings.NoPlots && !result.Points.empty() && result.WhyIncomplete != Interruption;
    std::vector<std::string> words{"study", output + "/result.json"};
    if (plots) {
      words.insert(words.end(), {"--plots", output + "/plots"});
    }
    if (!RunScript(words, plots ? "findings and plots" : "findings", settings.Python, session)) {
      session.Print(fmt::format("results: {0}/result.json, {0}/matrices.csv", output));
    }
    if (!result.Complete) {
      session.Warn("The study is incomplete: " + result.WhyIncomplete + ".");
    }
  }
  const bool wrong = session.IsRoot() && HasWrongValues(result);
  RunOnAllRanks(session.Ranks(), [&] {
    if (result.WhyIncomplete == Interruption) {
      throw Error(fmt::format(
          "A signal has interrupted the probe. The measurements so far are in {}/result.json.", output));
    }
    if (wrong) {
      throw Error("Some functions read or wrote wrong values. See result.json for their names.");
    }
  });
}

void RunQuickAndPlot(const Settings& settings, const std::string& output, Session& session)
{
  RunQuick(settings, output, session);
  if (session.IsRoot() && !settings.NoPlots) {
    RunScript(
        {"plot", output + "/result.json", "--output", output + "/plots"}, "plots", settings.Python, session);
  }
}

/// Throws Error unless all paths of --existing, and the folder if the user has given a folder, are on one
/// storage. Sets an empty settings.Directory to the first path.
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

/// Removes the folders that killed probes have left in `directory`, and warns about folders that may belong
/// to a running probe. Does nothing on ranks other than rank 0.
void RemoveDeadFolders(const std::string& directory, const Session& session)
{
  if (session.IsRoot()) {
    const ProbeFolders found = RemoveDeadProbeFolders(directory);
    for (const std::string& folder : found.Removed) {
      session.Print(fmt::format("PatchIO has removed {}, the folder of an interrupted probe.", folder));
    }
    for (const std::string& folder : found.Remaining) {
      session.Warn(
          fmt::format("{} belongs to a probe on another machine or by another user, or its removal failed. "
                      "Remove this folder if that probe no longer runs.",
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
        "probe: the folder is missing. Give a folder on the storage to measure, or one of the subcommands "
        "compare, findings, plot.");
  }
  if (settings.Existing.empty()) {
    RemoveDeadFolders(settings.Directory, session);
    // A folder that is not writable must cause an error before any measurement.
    session.OnRoot([&] { ::rmdir(MakeProbeFolder(settings.Directory).c_str()); });
  }
  const OutputFolder output(settings, session);
  if (settings.Full || settings.HasStudyOptions) {
    RunFull(settings, output.Path(), session);
  } else {
    RunQuickAndPlot(settings, output.Path(), session);
  }
}

// ---- results
// -------------------------------------------------------------------------------------------------

/// The arguments of a subcommand that runs the script.
struct ScriptArguments
{
  std::vector<std::string> Results;
  std::string Csv, Plots, Python;
};

/// Adds a subcommand that runs the script on rank 0. options: arguments of the subcommand; plots: name of the
/// script's option for the path of plots.
CLI::App* AddScriptCommand(CLI::App& probe, Session& session, const std::string& name,
    const std::string& description, const std::shared_ptr<ScriptArguments>& options, const std::string& plots)
{
  CLI::App* command = probe.add_subcommand(name, description);
  command->add_option(
      "--python", options->Python, "Python interpreter for findings and plots; plots require matplotlib");
  command->callback([=, &session] {
    std::vector<std::string> words{name};
    words.insert(words.end(), options->Results.begin(), options->Results.end());
    for (const auto& [option, value] :
        {std::pair("--csv", options->Csv), std::pair(plots.c_str(), options->Plots)}) {
      if (!value.empty()) {
        words.insert(words.end(), {option, value});
      }
    }
    RunPythonScriptOnRoot(Script, words, options->Python, session);
  });
  return command;
}

void AddScriptCommands(CLI::App& probe, Session& session)
{
  auto options = std::make_shared<ScriptArguments>();
  CLI::App* command = AddScriptCommand(probe, session, "compare",
      "Compare two results: which points differ by more than noise, and by how much", options, "--plots");
  command->add_option("results", options->Results, "Two result.json files")->required()->expected(2);
  command->add_option("--csv", options->Csv, "Write the ratios of all points into this file");
  command->add_option("--plots", options->Plots, "Folder for plots");

  options = std::make_shared<ScriptArguments>();
  command = AddScriptCommand(probe, session, "findings",
      "Test published findings about MPI-IO (small blocks, collective functions, shared pointers, file size, "
      "ranks) against results, which may have different numbers of ranks",
      options, "--plot");
  command->add_option("results", options->Results, "One or more result.json files")->required();
  command->add_option(
      "--plot", options->Plots, "Plot the findings into this file, NAME.png; NAME.json gets their numbers");

  options = std::make_shared<ScriptArguments>();
  command = AddScriptCommand(probe, session, "plot", "Plot existing results", options, "--output");
  command->add_option("results", options->Results, "One result.json file, or two to compare")
      ->required()
      ->expected(1, 2);
  command->add_option(
      "-o,--output", options->Plots, "Folder for the plots (default: plots, in the folder of the result)");
}

}  // namespace

void AddProbe(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("probe",
      "Measure a storage: either quickly, to find the best number of threads for the reader, or all "
      "functions of MPI-IO in a study. Run this command like the programs that will use the storage, under "
      "mpirun or alone");
  const auto settings = std::make_shared<Settings>();
  command->add_option("directory", settings->Directory,
      "Folder on the storage; probe creates and removes test files in this folder");
  AddSettings(*command, *settings);
  AddScriptCommands(*command, session);
  command->callback([command, settings, &session] {
    if (command->get_subcommands().empty()) {
      RunProbe(*settings, session);
    }
  });
}

}  // namespace patchio::tools
