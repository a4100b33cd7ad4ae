#include "Info/Info.h"

#include "Info/Describe.h"
#include "Info/Text.h"
#include "MetadataChannel/SeriesSidecar.h"
#include "Read/SharedCatalog.h"
#include "Session.h"
#include "Support/Error.h"
#include "Support/Together.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace patchio::tools {
namespace {

using nlohmann::json;

struct Options
{
  std::string Path;
  bool Json = false;
  bool ListedOnly = false;
  std::optional<std::int64_t> Step;
};

/// In text only the last step is described in full.
json DescribeSteps(const std::vector<TimeStep>& steps, const Format& format, bool allRanges)
{
  json all = json::array();
  for (const TimeStep& step : steps) {
    // The first step of a file says everything.
    if (!all.empty() && all.back()["path"] == step.Path) {
      all.push_back(DescribeTime(step));
    } else {
      const bool ranges = allRanges || step.Path == steps.back().Path;
      all.push_back(DescribeStep(LookAt(format, step, true), format, ranges));
    }
  }
  return all;
}

/// The smallest box around those of all steps; null where one of them is not known.
json BoundsOfAll(const json& steps)
{
  json all;
  for (const json& step : steps) {
    if (step.contains("bounds") && step["bounds"].is_null()) {
      return nullptr;
    }
    for (std::size_t i = 0; step.contains("bounds") && i < step["bounds"].size(); ++i) {
      const double now = step["bounds"][i].get<double>();
      const double before = all.size() > i ? all[i].get<double>() : now;
      all[i] = i % 2 == 0 ? std::min(before, now) : std::max(before, now);
    }
  }
  return all;
}

bool IsSound(const json& all)
{
  const auto sound = [](const json& step) {
    return !step.contains("error") && (!step.contains("faults") || step["faults"].empty());
  };
  return all["warnings"].empty() && std::all_of(all["steps"].begin(), all["steps"].end(), sound);
}

json Describe(const Options& options)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  SeriesOptions seriesOptions;
  seriesOptions.ListedOnly = options.ListedOnly;
  const Series series = OpenSharedSeries(*alone, {options.Path}, seriesOptions);
  const std::vector<TimeStep> steps = StepsToLookAt(series, options.Path, options.Step);
  const Format& format = FormatOf(options.Path);
  const TimeStep &first = series.Steps.front(), &last = series.Steps.back();
  json all = {{"path", options.Path}, {"format", format.Name()}, {"step_count", series.Steps.size()},
      {"times", {first.Time, last.Time}}, {"warnings", series.Warnings}, {"notes", series.Notes}};
  if (!first.Date.empty()) {
    all["dates"] = {first.Date, last.Date};
  }
  all["steps"] = DescribeSteps(steps, format, options.Json);
  all["bounds"] = BoundsOfAll(all["steps"]);
  const std::string sidecar = SeriesSidecar(options.Path, ChannelMode::ReadOnly).Warning();
  all["sidecar_warnings"] = sidecar.empty() ? json::array() : json::array({sidecar});
  all["sound"] = IsSound(all);
  return all;
}

void Run(const Options& options, Session& session)
{
  Together(session.Ranks(), [&] {
    if (session.Root()) {
      const json all = Describe(options);
      // Names from files need not be UTF-8.
      session.Print(options.Json ? all.dump(2, ' ', false, json::error_handler_t::replace) : InfoText(all));
      if (!all["sound"].get<bool>()) {
        throw Error(options.Path + ": something is missing or broken, see above.");
      }
    }
  });
}

}  // namespace

void AddInfo(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("info",
      "Say what data hold: time steps, bounds, levels, variables, and what is missing or cut. Exit code 1 "
      "where "
      "something is");
  const auto options = std::make_shared<Options>();
  command->add_option("path", options->Path, PathHelp())->required();
  command->add_option(
      "--step", options->Step, "Only the step of this number; default: all steps, the last in full");
  command->add_flag("--json", options->Json, "For programs; all steps in full");
  command->add_flag("--listed-only", options->ListedOnly, "Only steps that the index file lists");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
