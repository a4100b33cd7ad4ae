#include "Info/Info.h"

#include "Formats/Format.h"
#include "MetadataChannel/StepSidecar.h"
#include "Read/SharedCatalog.h"
#include "Session.h"
#include "Support/Error.h"
#include "Support/Together.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace patchio::tools {
namespace {

using nlohmann::json;

struct Options
{
  std::string Path;
  bool Json = false;
  bool ListedOnly = false;
};

const char* NameOf(FileFault fault)
{
  switch (fault) {
    case FileFault::Absent:
      return "absent";
    case FileFault::Unreadable:
      return "unreadable";
    case FileFault::Foreign:
      return "of another version";
    case FileFault::Stale:
      return "stale";
    case FileFault::Unfinished:
      return "unfinished";
    case FileFault::Corrupted:
      break;
  }
  return "corrupted";
}

json DescribeVariables(const Catalog& catalog)
{
  json variables = json::array();
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    const Variable& variable = catalog.Variables[v];
    std::uint64_t values = 0, patches = 0;
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      const Presence presence = catalog.PresenceOf(v, p);
      patches += presence != Presence::Absent ? 1 : 0;
      values += presence == Presence::Stored
                    ? static_cast<std::uint64_t>(catalog.StoredTuples(v, p)) * variable.Components
                    : 0;
    }
    variables.push_back(
        {{"name", variable.Name}, {"centering", variable.Center == Centering::Cell ? "cell" : "node"},
            {"components", variable.Components}, {"ghosts", variable.Ghosts}, {"patches", patches},
            {"values", values}});
  }
  return variables;
}

json DescribeCatalog(const Catalog& catalog)
{
  json levels = json::array();
  for (const Level& level : catalog.Levels) {
    levels.push_back({{"patches", level.PatchCount}, {"ratio", level.Ratio},
        {"name", catalog.NameOfLevel(static_cast<int>(levels.size()))}});
  }
  return {{"dimension", catalog.Dimension},
      {"grid", catalog.Grid == GridKind::Uniform       ? "uniform"
               : catalog.Grid == GridKind::Rectilinear ? "rectilinear"
                                                       : "curvilinear"},
      {"patches", catalog.Patches.size()}, {"levels", levels}, {"variables", DescribeVariables(catalog)}};
}

/// The reason alone: its sidecar is named beside it.
std::string ReasonOf(const SidecarState& state)
{
  const std::string name = state.Where.Path + ": ";
  return state.Message.rfind(name, 0) == 0 ? state.Message.substr(name.size()) : state.Message;
}

json DescribeSidecar(const SidecarSearch& search)
{
  if (search.Found) {
    return {{"state", "valid"}, {"path", search.Found->Path}, {"bytes", search.Found->Bytes}};
  }
  json result = {{"state", "absent"}};
  for (const SidecarState& state : search.Passed) {
    if (state.Fault != FileFault::Absent) {
      return {{"state", NameOf(state.Fault)}, {"path", state.Where.Path}, {"reason", ReasonOf(state)}};
    }
  }
  return result;
}

/// A step that cannot be opened says why.
json DescribeStep(const TimeStep& step, const Format& format)
{
  SidecarSearch search;
  json result = {{"path", step.Path}, {"step", step.Step}, {"time", step.Time}};
  if (format.NeedsIndex()) {
    const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
    search = FindStepSidecar(*alone, step.Path, {});
    result["sidecar"] = DescribeSidecar(search);
  } else {
    result["sidecar"] = {{"state", "not needed"}};
  }
  const std::string fault = FaultOf([&] {
    result.update(DescribeCatalog(search.Found ? search.Found->Data : format.ReadCatalog(step.Path)));
  });
  if (!fault.empty()) {
    result["error"] = fault;
  } else if (search.Found) {
    result["bytes"] = search.Found->Index.Index.StoredBytes(search.Found->Data);
  }
  return result;
}

json Describe(const Options& options)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  SeriesOptions seriesOptions;
  seriesOptions.ListedOnly = options.ListedOnly;
  const Series series = OpenSharedSeries(*alone, {options.Path}, seriesOptions, ChannelMode::ReadOnly);
  const Format& format = FormatOf(options.Path);
  json steps = json::array();
  for (const TimeStep& step : series.Steps) {
    // Of steps of one file the first says everything.
    const bool known = !steps.empty() && steps.back()["path"] == step.Path;
    steps.push_back(known ? json{{"path", step.Path}, {"step", step.Step}, {"time", step.Time}}
                          : DescribeStep(step, format));
  }
  return {{"path", options.Path}, {"format", format.Name()}, {"steps", steps}, {"warnings", series.Warnings},
      {"notes", series.Notes}};
}

// ---- for people ----

std::string SidecarText(const json& sidecar, const std::string& step)
{
  if (sidecar["state"] == "not needed") {
    return fmt::format("no sidecar needed: {} says where all values lie", step);
  }
  std::string text = "sidecar " + sidecar["state"].get<std::string>();
  if (sidecar.contains("bytes")) {
    text += fmt::format(
        ", {} ({} bytes)", sidecar["path"].get<std::string>(), sidecar["bytes"].get<std::uint64_t>());
  } else if (sidecar.contains("reason")) {
    text +=
        fmt::format(", {} ({})", sidecar["path"].get<std::string>(), sidecar["reason"].get<std::string>());
  }
  return text;
}

std::string VariableText(const json& variable, std::uint64_t patches)
{
  const auto ghosts = variable["ghosts"].get<Int3>();
  return fmt::format("    {}: {}, {} component{}{}, {} values on {} of {} patches\n",
      variable["name"].get<std::string>(), variable["centering"].get<std::string>(),
      variable["components"].get<int>(), variable["components"] == 1 ? "" : "s",
      ghosts == Int3{0, 0, 0} ? "" : fmt::format(", ghost layers {} {} {}", ghosts[0], ghosts[1], ghosts[2]),
      variable["values"].get<std::uint64_t>(), variable["patches"].get<std::uint64_t>(), patches);
}

std::string StepText(const json& step)
{
  std::string text =
      fmt::format("step {}, time {}: ", step["step"].get<std::int64_t>(), step["time"].get<double>());
  if (step.contains("error")) {
    return text + step["error"].get<std::string>() + "\n";
  }
  std::string levels;
  for (const json& level : step["levels"]) {
    levels += (levels.empty() ? "" : " + ") + std::to_string(level["patches"].get<int>());
  }
  const auto patches = step["patches"].get<std::uint64_t>();
  text += fmt::format("{}-D, {} grid, {} patch{} ({}) on {} level{}", step["dimension"].get<int>(),
      step["grid"].get<std::string>(), patches, patches == 1 ? "" : "es", levels, step["levels"].size(),
      step["levels"].size() == 1 ? "" : "s");
  if (step.contains("bytes")) {
    text += fmt::format(", {} bytes of values", step["bytes"].get<std::uint64_t>());
  }
  text += fmt::format("\n    {}\n", SidecarText(step["sidecar"], step["path"].get<std::string>()));
  for (const json& variable : step["variables"]) {
    text += VariableText(variable, patches);
  }
  return text;
}

std::string Text(const json& all)
{
  std::string text = fmt::format("{}\nformat: {}\nsteps: {}\n", all["path"].get<std::string>(),
      all["format"].get<std::string>(), all["steps"].size());
  const json& steps = all["steps"];
  for (std::size_t first = 0, end = 0; first < steps.size(); first = end) {
    while (end < steps.size() && steps[end]["path"] == steps[first]["path"]) {
      ++end;
    }
    text += StepText(steps[first]);
    if (end - first > 1) {
      text += fmt::format("    the same in {} more steps of this file, up to step {}, time {}\n",
          end - first - 1, steps[end - 1]["step"].get<std::int64_t>(), steps[end - 1]["time"].get<double>());
    }
  }
  for (const json& warning : all["warnings"]) {
    text += "warning: " + warning.get<std::string>() + "\n";
  }
  for (const json& note : all["notes"]) {
    text += "note: " + note.get<std::string>() + "\n";
  }
  text.pop_back();
  return text;
}

void Run(const Options& options, Session& session)
{
  Together(session.Ranks(), [&] {
    if (session.Root()) {
      const json all = Describe(options);
      // Names from files need not be UTF-8.
      session.Print(options.Json ? all.dump(2, ' ', false, json::error_handler_t::replace) : Text(all));
    }
  });
}

}  // namespace

void AddInfo(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand(
      "info", "Say what a series holds, step by step, and what its sidecars are worth");
  const auto options = std::make_shared<Options>();
  command->add_option("path", options->Path, "A dumps.visit, a summary.samrai, a plotfile")->required();
  command->add_flag("--json", options->Json, "For programs");
  command->add_flag("--listed-only", options->ListedOnly, "Only steps that the index file lists");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
