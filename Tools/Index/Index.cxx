#include "Index/Index.h"

#include "MetadataChannel/SeriesSidecar.h"
#include "MetadataChannel/SidecarPath.h"
#include "Session.h"
#include "Session/OpenedStep.h"
#include "Session/SharedCatalog.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>

namespace patchio::tools {
namespace {

struct Options
{
  std::string Path;
  bool Rebuild = false;
  bool ListedOnly = false;
  bool Remove = false;
  int Threads = 4;
  std::optional<std::int64_t> Step;  ///< none: all
};

std::string Counted(std::uint64_t count, const char* one, const char* several)
{
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Arrays with bytes in a file; each component is a data set.
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

/// Opens and indexes; waits and tries again where files are so young that they may still change unseen.
OpenedStep IndexOne(const TimeStep& step, const Options& options, Session& session)
{
  Communicator& ranks = session.Ranks();
  ChannelSettings settings;
  settings.Threads = options.Threads;
  ChannelMode mode = options.Rebuild ? ChannelMode::Rebuild : ChannelMode::On;
  for (int attempt = 0;; ++attempt) {
    OpenedStep opened(ranks, step.Path, mode, settings);
    session.Warn(opened.Warning());
    opened.Prepare(ranks, options.Threads);
    const double wait = opened.Saved().SecondsToWait;
    if (opened.FromSidecar() || wait < 0 || attempt == 3) {
      return opened;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    mode = ChannelMode::Rebuild;
  }
}

/// True when the step has a sidecar now, or does without.
bool Report(const TimeStep& step, const OpenedStep& opened, double seconds, Session& session)
{
  const Catalog& catalog = opened.Data();
  const bool saved = opened.FromSidecar() || !opened.Saved().Path.empty();
  std::string end = opened.Origin();
  if (saved) {
    std::error_code ignored;
    const std::string path = opened.SidecarPath();
    end = fmt::format("{}{} ({} bytes)", opened.FromSidecar() ? "up to date: " : "", path,
        session.Root() ? std::filesystem::file_size(path, ignored) : 0);
  }
  end = opened.NeedsIndex() ? end : "no sidecar needed: " + opened.Origin();
  const std::string steps = catalog.StepsInFile == 1 ? fmt::format("step {}", step.Step)
                                                     : fmt::format("{} steps", catalog.StepsInFile);
  session.Print(
      fmt::format("{}: {}, {}, {}, {:.3f} s, {}", steps, Counted(catalog.Patches.size(), "patch", "patches"),
          Counted(catalog.Variables.size(), "variable", "variables"),
          Counted(CountDatasets(catalog), "data set", "data sets"), seconds, end));
  return saved || !opened.NeedsIndex();
}

/// Keeps the heads of all steps that may be kept by now. Gives why it could not; empty when all is well.
std::string KeepHeads(const std::string& path, const SeriesOptions& options, Communicator& ranks)
{
  std::string fault;
  RunOnAllRanks(ranks, [&] {
    if (ranks.Rank() == 0) {
      fault = OpenWithSidecar(path, options, ChannelMode::On, ChannelSettings().SettleSeconds).WhyNotSaved;
    }
  });
  return ranks.AllGather(fault)[0];
}

/// Throws Error when steps, or the series, have no sidecar after all.
void CheckSaved(const Options& options, std::size_t wanted, std::size_t done, bool seriesSaved)
{
  if (done < wanted) {
    throw Error(fmt::format("{}: {} of {} steps have no sidecar now{}.", options.Path, wanted - done, wanted,
        seriesSaved ? "" : ", nor has the series"));
  }
  if (!seriesSaved) {
    throw Error(fmt::format("{}: the series has no sidecar now.", options.Path));
  }
}

/// All that a series may have sidecars for: its own path, and each step, be it sound or broken.
std::set<std::string> DescribedPaths(const Options& options)
{
  const Format& format = FormatOf(options.Path);
  std::set<std::string> paths;
  if (!options.Step) {
    paths.insert(options.Path);
  }
  SeriesOptions seriesOptions;
  seriesOptions.ListedOnly = options.ListedOnly;
  seriesOptions.Known = [&](const std::string& step) {
    if (!options.Step) {
      paths.insert(step);
    }
    return std::optional<TimeStep>();
  };
  Series series;
  const std::string ignored = CatchError([&] { series = format.OpenSeries(options.Path, seriesOptions); });
  for (const TimeStep& step : series.Steps) {
    if (step.Step == options.Step.value_or(step.Step)) {
      paths.insert(step.Path);
    }
  }
  return paths;
}

void Remove(const Options& options, Session& session)
{
  RunOnAllRanks(session.Ranks(), [&] {
    std::size_t count = 0;
    if (session.Root()) {
      for (const std::string& path : DescribedPaths(options)) {
        for (const std::string& removed : RemoveSidecars(path)) {
          session.Print("removed: " + removed);
          ++count;
        }
      }
      session.Print(count == 0 ? "There are no sidecars of " + options.Path + "."
                               : Counted(count, "sidecar was", "sidecars were") + " removed.");
    }
  });
}

void Run(const Options& options, Session& session)
{
  SeriesOptions seriesOptions;
  seriesOptions.ListedOnly = options.ListedOnly;
  const ChannelMode mode = options.Rebuild ? ChannelMode::Rebuild : ChannelMode::On;
  const Series series = OpenSharedSeries(session.Ranks(), {options.Path}, seriesOptions, mode);
  for (const std::string& warning : series.Warnings) {
    session.Warn(warning);
  }
  std::size_t wanted = 0, done = 0;
  std::set<std::string> seen;  // one sidecar holds all steps of a file
  for (const TimeStep& step : series.Steps) {
    if (step.Step == options.Step.value_or(step.Step) && seen.insert(step.Path).second) {
      const Stopwatch watch;
      const OpenedStep opened = IndexOne(step, options, session);
      ++wanted;
      done += Report(step, opened, watch.Seconds(), session) ? 1 : 0;
    }
  }
  if (wanted == 0) {
    throw Error(fmt::format("{}: there is no step {}.", options.Path, options.Step.value_or(0)));
  }
  const std::string whyNot = KeepHeads(options.Path, seriesOptions, session.Ranks());
  if (!whyNot.empty()) {
    session.Print(
        fmt::format("series: {}, not saved: {}", Counted(series.Steps.size(), "step", "steps"), whyNot));
  }
  CheckSaved(options, wanted, done, whyNot.empty());
}

}  // namespace

void AddIndex(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("index",
      "Find out where all arrays of a series lie and keep that beside the data, so that it opens at once. "
      "Under mpirun the ranks share the work");
  const auto options = std::make_shared<Options>();
  AddPath(*command, options->Path);
  CLI::Option* const rebuild = command->add_flag(
      "--rebuild", options->Rebuild, "Write sidecars anew, even where there are sound ones");
  command
      ->add_flag("--remove", options->Remove,
          "Remove the sidecars, beside the data, in your cache folder and in PATCHIO_METADATA_DIR, and write "
          "none")
      ->excludes(rebuild);
  command->add_flag("--listed-only", options->ListedOnly, "Only steps that the index file lists");
  AddStep(*command, options->Step);
  command->add_option("--threads", options->Threads, "Threads of a rank that look at files")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->callback([options, &session] {
    if (options->Remove) {
      Remove(*options, session);
    } else {
      Run(*options, session);
    }
  });
}

}  // namespace patchio::tools
