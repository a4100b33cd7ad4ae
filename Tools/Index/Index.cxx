#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Info/StepFacts.h"
#include "Read/CollectiveCalls.h"
#include "Read/OpenedStep.h"
#include "Session.h"
#include "Store/IndexFilePath.h"
#include "Store/SeriesIndexFile.h"
#include "Subcommands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace patchio::tools {
namespace {

struct IndexOptions : SeriesArguments
{
  bool Rebuild = false;
  bool Remove = false;
};

/// Returns the number of data sets in files, counted as one for each component of a stored array.
std::uint64_t CountDatasets(const Catalog& catalog)
{
  std::uint64_t count = 0;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      count += catalog.PresenceOf(v, p) == Presence::Stored ? catalog.Variables[v].Components : 0;
    }
  }
  return count;
}

/// Opens and indexes a step. Waits and tries again, up to 3 times, if the files of the step are so new that
/// the modification times might not show a further change. Collective: every rank of the communicator calls
/// it.
OpenedStep IndexStep(const TimeStep& step, const IndexOptions& options, Session& session)
{
  Communicator& ranks = session.Ranks();
  IndexSettings settings;
  settings.Threads = options.Threads;
  IndexMode mode = options.Rebuild ? IndexMode::Rebuild : IndexMode::On;
  for (int attempt = 0;; ++attempt) {
    OpenedStep opened(ranks, step.Path, mode, settings);
    session.Warn(opened.Warning());
    opened.Prepare(ranks, options.Threads);
    const double wait = opened.Saved().SecondsToWait;
    if (opened.FromIndexFile() || wait < 0 || attempt == 3) {
      return opened;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    mode = IndexMode::Rebuild;
  }
}

/// Prints a line about a step. Returns false if the step needs an index file but has no index file.
bool ReportStep(const TimeStep& step, const OpenedStep& opened, double seconds, Session& session)
{
  const Catalog& catalog = opened.Data();
  const bool saved = opened.FromIndexFile() || !opened.Saved().Path.empty();
  std::string end = opened.Origin();
  if (saved) {
    const std::string path = opened.IndexFilePath();
    end = fmt::format("{}{} ({} bytes)", opened.FromIndexFile() ? "up to date: " : "", path,
        session.IsRoot() ? SizeOfFile(path).value_or(0) : 0);
  }
  end = opened.NeedsIndex() ? end : "no index file needed: " + opened.Origin();
  const std::string steps = catalog.StepsInFile == 1 ? fmt::format("step {}", step.Step)
                                                     : fmt::format("{} steps", catalog.StepsInFile);
  session.Print(fmt::format("{}: {}, {}, {}, {:.3f} s, {}", steps,
      CountText(catalog.Patches.size(), "patch", "patches"), CountText(catalog.Variables.size(), "variable"),
      CountText(CountDatasets(catalog), "data set"), seconds, end));
  return saved || !opened.NeedsIndex();
}

/// Writes the index file of the series, with all steps whose files are old enough. Returns the reason of a
/// failure, or an empty text. Collective: every rank of the communicator calls it.
std::string WriteSeriesIndex(const std::string& path, const SeriesOptions& options, Session& session)
{
  std::string fault;
  session.OnRoot([&] {
    fault = OpenWithIndexFile(path, options, IndexMode::On, IndexSettings().SettleSeconds).SaveFault;
  });
  return session.Ranks().AllGather(fault)[0];
}

/// Throws Error if a step or the series has no index file. `stepCount`: number of steps. `savedCount`: number
/// of steps that have an index file or need no index file.
void CheckSaved(const IndexOptions& options, std::size_t stepCount, std::size_t savedCount, bool seriesSaved)
{
  if (savedCount < stepCount) {
    throw Error(fmt::format("{}: {} of {} steps have no index file{}. The lines above say why.", options.Path,
        stepCount - savedCount, stepCount, seriesSaved ? "" : ", and neither has the series"));
  }
  if (!seriesSaved) {
    throw Error(fmt::format("{}: the series has no index file. The lines above say why.", options.Path));
  }
}

/// Returns the paths whose index files the user wants to remove: without --step, the path of the series and
/// the paths of its steps, valid or damaged; with --step, the path of this step. Throws Error if no step has
/// the number.
std::set<std::string> IndexedPaths(const IndexOptions& options)
{
  const Format& format = FormatOf(options.Path);
  SeriesOptions seriesOptions{options.ListedOnly};
  std::set<std::string> paths;
  const auto add = [&paths](const std::vector<TimeStep>& steps) {
    for (const TimeStep& step : steps) {
      paths.insert(step.Path);
    }
  };
  if (options.Step) {
    add(SelectSteps(format.OpenSeries(options.Path, seriesOptions), options.Path, options.Numbers()));
    return paths;
  }
  paths.insert(options.Path);
  seriesOptions.KnownHead = [&paths](const std::string& step) {
    paths.insert(step);
    return std::optional<TimeStep>();
  };
  const std::string ignored = CatchError([&] { add(format.OpenSeries(options.Path, seriesOptions).Steps); });
  return paths;
}

void Remove(const IndexOptions& options, Session& session)
{
  session.OnRoot([&] {
    std::size_t count = 0;
    for (const std::string& path : IndexedPaths(options)) {
      for (const std::string& removed : RemoveIndexFiles(path)) {
        session.Print("removed: " + removed);
        ++count;
      }
    }
    session.Print(count == 0 ? "No index files found for " + options.Path + "."
                             : CountText(count, "index file", "index files") + " removed.");
  });
}

void Run(const IndexOptions& options, Session& session)
{
  const IndexMode mode = options.Rebuild ? IndexMode::Rebuild : IndexMode::On;
  const Series series = OpenSeries(session.Ranks(), {options.Path}, {options.ListedOnly}, mode);
  for (const std::string& warning : series.Warnings) {
    session.Warn(warning);
  }
  std::size_t stepCount = 0, savedCount = 0;
  std::set<std::string> seen;  // one index file holds all steps of a file
  for (const TimeStep& step : SelectSteps(series, options.Path, options.Numbers())) {
    if (seen.insert(step.Path).second) {
      const Stopwatch watch;
      const OpenedStep opened = IndexStep(step, options, session);
      ++stepCount;
      savedCount += ReportStep(step, opened, watch.Seconds(), session) ? 1 : 0;
    }
  }
  const std::string whyNot = WriteSeriesIndex(options.Path, {options.ListedOnly}, session);
  if (!whyNot.empty()) {
    session.Print(fmt::format("series: {}, not saved: {}", CountText(series.Steps.size(), "step"), whyNot));
  }
  CheckSaved(options, stepCount, savedCount, whyNot.empty());
}

}  // namespace

void AddIndex(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("index",
      "Write index files with the locations of all arrays of a series, so that the series opens at once. Run "
      "this command under mpirun to use several ranks");
  const auto options = std::make_shared<IndexOptions>();
  AddSeriesArguments(*command, *options);
  CLI::Option* const rebuild =
      command->add_flag("--rebuild", options->Rebuild, "Write all index files again, including valid ones");
  command
      ->add_flag("--remove", options->Remove,
          "Remove the index files of these data from the folder of the data, your cache folder and "
          "PATCHIO_METADATA_DIR, and write none")
      ->excludes(rebuild);
  command->callback([options, &session] {
    if (options->Remove) {
      Remove(*options, session);
    } else {
      Run(*options, session);
    }
  });
}

}  // namespace patchio::tools
