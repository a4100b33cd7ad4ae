#include "Info/Describe.h"
#include "Info/Text.h"
#include "MetadataChannel/SeriesSidecar.h"
#include "Session.h"
#include "Session/RankAgreement.h"
#include "Subcommands.h"
#include "Support/Error.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace patchio::tools {
namespace {

using nlohmann::json;

struct Options : SeriesArguments
{
  bool Json = false;
};

/// The text describes only the last step and the first step of each file in full.
json DescribeSteps(const std::vector<TimeStep>& steps, const Format& format, const Options& options)
{
  json all = json::array();
  std::size_t firstOfFile = 0;
  bool indexed = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TimeStep& step = steps[i];
    const bool full = options.Json || i + 1 == steps.size();
    const bool again = i > 0 && steps[i - 1].Path == step.Path;
    firstOfFile = again ? firstOfFile : i;
    if (again && !full) {
      all.push_back(DescribeTime(step));
    } else if (again && indexed) {
      // A file with an index describes all of its steps at once.
      all.push_back(json(all[firstOfFile]));
      all.back().update(DescribeTime(step));
    } else {
      const StepFacts facts = LookAt(format, step, true, options.Threads);
      indexed = facts.NeedsSidecar;
      all.push_back(DescribeStep(facts, format, full));
    }
  }
  return all;
}

/// The smallest box around all steps; null if one of their boxes is not known.
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

/// oneStep: warnings do not count, because they concern other steps.
bool IsSound(const json& all, bool oneStep)
{
  const auto sound = [](const json& step) {
    return !step.contains("error") && (!step.contains("faults") || step["faults"].empty());
  };
  return (oneStep || all["warnings"].empty()) && std::all_of(all["steps"].begin(), all["steps"].end(), sound);
}

json Describe(const Options& options)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  SeriesOptions seriesOptions;
  seriesOptions.ListedOnly = options.ListedOnly;
  const Series series = RankAgreement(*alone).OpenSeries({options.Path}, seriesOptions);
  const std::vector<TimeStep> steps = StepsToLookAt(series, options.Path, options.Step);
  const Format& format = FormatOf(options.Path);
  const TimeStep &first = series.Steps.front(), &last = series.Steps.back();
  json all = {{"path", options.Path}, {"format", format.Name()}, {"step_count", series.Steps.size()},
      {"times", {first.Time, last.Time}}, {"time_values", TimeValues(series)}, {"warnings", series.Warnings},
      {"notes", NotesOf(series)}};
  if (!first.Date.empty()) {
    all["dates"] = {first.Date, last.Date};
  }
  all["steps"] = DescribeSteps(steps, format, options);
  all["bounds"] = BoundsOfAll(all["steps"]);
  const std::string sidecar = SeriesSidecar(options.Path, ChannelMode::ReadOnly).Warning();
  all["sidecar_warnings"] = sidecar.empty() ? json::array() : json::array({sidecar});
  all["sound"] = IsSound(all, options.Step.has_value());
  return all;
}

void Run(const Options& options, Session& session)
{
  session.OnRoot([&] {
    const json all = Describe(options);
    // Names from files need not be UTF-8.
    session.Print(options.Json ? all.dump(2, ' ', false, json::error_handler_t::replace) : InfoText(all));
    if (!all["sound"].get<bool>()) {
      throw Error(options.Path + ": some of the data cannot be read, see above.");
    }
  });
}

}  // namespace

void AddInfo(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("info",
      "Show the contents of data: time steps, bounds, levels and variables, and which parts are missing or "
      "damaged. Exit code 1 if any are");
  const auto options = std::make_shared<Options>();
  AddSeriesArguments(*command, *options, "all time steps in brief, the last one in detail");
  command->add_flag("--json", options->Json, "Print JSON for programs, with all time steps in detail");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
