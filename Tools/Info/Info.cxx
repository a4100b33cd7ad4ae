#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Catalog/Catalog.h"
#include "Info/StepFacts.h"
#include "Read/CollectiveCalls.h"
#include "Session.h"
#include "Store/SeriesIndexFile.h"
#include "Subcommands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {
namespace {

using nlohmann::json;

/// Returns [x lower, x upper, y lower ...], or null if the bounds are unknown.
json DescribeBounds(const std::optional<Bounds>& bounds)
{
  if (!bounds) {
    return nullptr;
  }
  json all = json::array();
  for (int axis = 0; axis < 3; ++axis) {
    all.push_back(bounds->Lower[axis]);
    all.push_back(bounds->Upper[axis]);
  }
  return all;
}

/// Returns the range of a variable over all patches, or null if the files lack the range for at least one
/// patch that has the variable.
json DescribeRange(const Catalog& catalog, int variable, const Format& format)
{
  std::vector<ValueRange> ranges;
  // InspectStep() reports the faults of the files.
  const std::string ignored = CatchError([&] { ranges = format.RangesOf(catalog, variable); });
  ValueRange all = ValueRange::EmptyRange();
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    if (catalog.PresenceOf(variable, static_cast<int>(p)) != Presence::Absent) {
      all.Add(ranges[p]);
    }
  }
  return std::isfinite(all.Least) && std::isfinite(all.Greatest) ? json{all.Least, all.Greatest} : json();
}

json DescribeVariable(const StepFacts& facts, int v)
{
  const Catalog& catalog = *facts.Data;
  const Variable& variable = catalog.Variables[v];
  std::uint64_t values = 0, patches = 0;
  for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
    const Presence presence = catalog.PresenceOf(v, p);
    patches += presence != Presence::Absent ? 1 : 0;
    values += presence == Presence::Stored
                  ? static_cast<std::uint64_t>(catalog.StoredTuples(v, p)) * variable.Components
                  : 0;
  }
  return {{"name", variable.Name}, {"centering", variable.Center == Centering::Cell ? "cell" : "node"},
      {"components", variable.Components}, {"type", facts.Types[v] ? json(NameOf(*facts.Types[v])) : json()},
      {"ghosts", variable.Ghosts}, {"patches", patches}, {"values", values}};
}

json DescribeLevel(const Catalog& catalog, int number)
{
  const Level& level = catalog.Levels[number];
  std::int64_t cells = 0;
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    cells += catalog.Patches[p].Cells.CellCount();
  }
  json all = {{"name", catalog.NameOfLevel(number)}, {"role", NameOf(level.Role)},
      {"patches", level.PatchCount}, {level.Role == LevelRole::Points ? "points" : "cells", cells},
      {"ratio", level.Ratio}, {"bounds", DescribeBounds(BoundsOfLevel(catalog, number))}};
  if (catalog.Grid == GridType::Uniform) {
    all["spacing"] = level.Spacing;
  }
  return all;
}

/// Returns the positions and the labels of a rectilinear grid's nodes along each axis.
json DescribeAxes(const Catalog& catalog)
{
  json axes = json::array();
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    const Axis& along = catalog.Axes[axis];
    axes.push_back({{"positions", along.Positions}});
    if (!along.Labels.empty()) {
      axes.back()["labels"] = along.Labels;  // a NaN label becomes null in JSON
    }
  }
  return axes;
}

json DescribeCatalog(const StepFacts& facts)
{
  const Catalog& catalog = *facts.Data;
  json levels = json::array(), variables = json::array();
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    levels.push_back(DescribeLevel(catalog, level));
  }
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    variables.push_back(DescribeVariable(facts, v));
  }
  json all = {{"dimension", catalog.Dimension}, {"grid", NameOf(catalog.Grid)},
      {"bounds", DescribeBounds(BoundsOf(catalog))}, {"patches", catalog.Patches.size()}, {"levels", levels},
      {"variables", variables}, {"bytes", facts.Bytes}, {"files", facts.Files.size()}};
  if (catalog.Grid == GridType::Rectilinear) {
    all["axes"] = DescribeAxes(catalog);
  }
  return all;
}

/// Returns the "state" of an index file and, if the file exists, the "path" and the "bytes" or the "reason".
json DescribeIndexFile(const StepFacts& facts)
{
  if (!facts.NeedsIndexFile) {
    return {{"state", "not needed"}};
  }
  if (facts.IndexFile.Found) {
    return {
        {"state", "valid"}, {"path", facts.IndexFile.Found->Path}, {"bytes", facts.IndexFile.Found->Bytes}};
  }
  const RejectedIndexFile* const faulty = FaultyIndexFile(facts.IndexFile);
  return faulty ? json{{"state", NameOf(faulty->Fault)}, {"path", faulty->File.Path},
                      {"reason", ReasonOf(*faulty)}}
                : json{{"state", "absent"}};
}

/// Returns path, number, time and date of a step.
json DescribeTime(const TimeStep& step)
{
  json all = {{"path", step.Path}, {"step", step.Step}, {"time", step.Time}};
  if (!step.Date.empty()) {
    all["date"] = step.Date;
  }
  return all;
}

/// Returns a description of a step. If the step cannot be opened, "error" has the reason. `withRanges`: true
/// to add the "range", [least, greatest], of each variable of one component if the files have the range.
json DescribeStep(const StepFacts& facts, const Format& format, bool withRanges)
{
  json all = DescribeTime(facts.Step);
  all["sidecar"] = DescribeIndexFile(facts);
  if (!facts.Data) {
    all["error"] = facts.OpenError;
    return all;
  }
  all.update(DescribeCatalog(facts));
  for (int v = 0; withRanges && v < static_cast<int>(facts.Data->Variables.size()); ++v) {
    const json range =
        facts.Data->Variables[v].Components == 1 ? DescribeRange(*facts.Data, v, format) : json();
    if (!range.is_null()) {
      all["variables"][v]["range"] = range;
    }
  }
  all["faults"] = json::array();
  for (const FileFaults& fault : facts.Faults) {
    all["faults"].push_back({{"arrays", fault.Arrays}, {"message", fault.FirstMessage}});
  }
  return all;
}

/// Maximum number of files whose steps the text lists. The text omits further files in the middle.
constexpr std::size_t MostFiles = 30;

std::string StringOf(const json& value)
{
  return value.get<std::string>();
}

/// Returns a number with at most `digits` significant digits: 0.1, not 0.10000000000000001.
std::string NumberText(double value, int digits = 10)
{
  constexpr double nothing = 1e-37;  // smaller numbers are rounding errors of 0 as a float
  return fmt::format("{:.{}g}", std::abs(value) < nothing ? 0 : value, digits);
}

std::string JoinEnds(const std::string& from, const std::string& to)
{
  return from == to ? from : from + " to " + to;
}

/// Returns a range as text: integers with all digits, other numbers with enough digits to distinguish the two
/// ends.
std::string RangeText(double least, double greatest, bool integers)
{
  constexpr int few = 6, all = 17;
  int digits = integers ? all : few;
  while (digits < all && least < greatest && NumberText(least, digits) == NumberText(greatest, digits)) {
    ++digits;
  }
  return JoinEnds(NumberText(least, digits), NumberText(greatest, digits));
}

std::string TimeText(const json& step)
{
  return step.contains("date") ? StringOf(step["date"]) : NumberText(step["time"].get<double>());
}

std::string BoundsText(const json& bounds, int dimension)
{
  std::string text;
  for (int axis = 0; axis < dimension; ++axis) {
    text += fmt::format("{}{} {}", axis == 0 ? "" : ", ", "xyz"[axis],
        JoinEnds(NumberText(bounds[2 * axis].get<double>(), 6),
            NumberText(bounds[2 * axis + 1].get<double>(), 6)));
  }
  return text;
}

template <typename Write>
std::string ProductText(const json& values, int dimension, Write write)
{
  std::string text;
  for (int axis = 0; axis < dimension; ++axis) {
    text += (axis == 0 ? "" : " x ") + write(values[axis]);
  }
  return text;
}

/// Returns a line for each row, with aligned columns separated by two blanks, and no blanks at the end.
std::string TableText(const std::vector<std::vector<std::string>>& rows, const std::string& indent)
{
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string IndexFileText(const json& step)
{
  const json& indexFile = step["sidecar"];
  if (indexFile["state"] == "not needed") {
    return fmt::format("no index file needed: {} lists the locations of all values", StringOf(step["path"]));
  }
  std::string text = "index file " + StringOf(indexFile["state"]);
  if (indexFile.contains("bytes")) {
    text +=
        fmt::format(", {} ({} bytes)", StringOf(indexFile["path"]), indexFile["bytes"].get<std::uint64_t>());
  } else if (indexFile.contains("reason")) {
    text += fmt::format(", {} ({})", StringOf(indexFile["path"]), StringOf(indexFile["reason"]));
  }
  return text;
}

/// Returns the labels of an axis, such as pressures, of all positions that have a label.
std::vector<double> LabelsOf(const json& axis)
{
  std::vector<double> labels;
  for (const json& label : axis.value("labels", json::array())) {
    if (std::isfinite(label.get<double>())) {
      labels.push_back(label.get<double>());
    }
  }
  return labels;
}

std::string AxesText(const json& axes)
{
  std::string text;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::vector<double> labels = LabelsOf(axes[axis]);
    text += fmt::format("{}{} along {}", axis == 0 ? "" : ", ",
        labels.empty() ? axes[axis]["positions"].size() : labels.size(), "xyz"[axis]);
    if (!labels.empty()) {
      text += fmt::format(" (levels {})", JoinEnds(NumberText(labels.front()), NumberText(labels.back())));
    }
  }
  return text;
}

std::vector<std::string> LevelRow(const json& level, int dimension)
{
  const bool points = level.contains("points");
  std::vector<std::string> row{PlainText(StringOf(level["name"])),
      CountText(level["patches"].get<std::uint64_t>(), "patch", "patches"),
      fmt::format(
          "{} {}", level[points ? "points" : "cells"].get<std::int64_t>(), points ? "points" : "cells")};
  const auto plain = [](const json& value) { return std::to_string(value.get<int>()); };
  const auto number = [](const json& value) { return NumberText(value.get<double>(), 6); };
  if (level.contains("spacing")) {
    row.push_back("of " + ProductText(level["spacing"], dimension, number));
  }
  const bool refined = level["role"] == "refinement" && level["ratio"] != json({1, 1, 1});
  row.push_back(refined ? "ratio " + ProductText(level["ratio"], dimension, plain) : "");
  row.push_back(level["bounds"].is_null() ? "" : BoundsText(level["bounds"], dimension));
  return row;
}

std::vector<std::string> VariableRow(const json& variable, std::uint64_t patches)
{
  const auto ghosts = variable["ghosts"].get<std::vector<int>>();
  const bool hasGhosts = std::any_of(ghosts.begin(), ghosts.end(), [](int layers) { return layers > 0; });
  const auto present = variable["patches"].get<std::uint64_t>();
  std::string range;
  if (variable.contains("range")) {
    const json& known = variable["range"];
    const bool integers =
        !variable["type"].is_null() && StringOf(variable["type"]).find("int") != std::string::npos;
    range = RangeText(known[0].get<double>(), known[1].get<double>(), integers);
  }
  std::string more = present == patches ? "" : fmt::format("on {} of {} patches", present, patches);
  if (hasGhosts) {
    more += fmt::format("{}ghost layers {}", more.empty() ? "" : ", ", fmt::join(ghosts, " "));
  }
  return {PlainText(StringOf(variable["name"])), variable["centering"] == "cell" ? "cells" : "nodes",
      CountText(variable["components"].get<std::uint64_t>(), "component"),
      variable["type"].is_null() ? "" : StringOf(variable["type"]), range, more};
}

/// Returns the full text about a step.
std::string StepText(const json& step)
{
  const int dimension = step["dimension"].get<int>();
  std::string text = fmt::format("\nStep {}, time {}\n", step["step"].get<std::int64_t>(), TimeText(step));
  if (step.contains("axes")) {
    text += "  points: " + AxesText(step["axes"]) + "\n";
  }
  const json& all = step["variables"];
  const bool ranges =
      std::any_of(all.begin(), all.end(), [](const json& one) { return one.contains("range"); });
  std::vector<std::vector<std::string>> levels,
      variables{{"variable", "on", "", "type", ranges ? "range" : "", ""}};
  for (const json& level : step["levels"]) {
    levels.push_back(LevelRow(level, dimension));
  }
  for (const json& variable : all) {
    variables.push_back(VariableRow(variable, step["patches"].get<std::uint64_t>()));
  }
  return text + TableText(levels, "  ") + TableText(variables, "  ");
}

/// Returns a line about a step.
std::string StepLine(const json& step)
{
  std::string text = fmt::format("  step {}, time {}: ", step["step"].get<std::int64_t>(), TimeText(step));
  if (step.contains("error")) {
    return text + "cannot be opened\n";
  }
  std::string levels;
  for (const json& level : step["levels"]) {
    levels += (levels.empty() ? "" : " + ") + std::to_string(level["patches"].get<int>());
  }
  return text + fmt::format("{} ({}) on {}, {} of values in {}; {}\n",
                    CountText(step["patches"].get<std::uint64_t>(), "patch", "patches"), levels,
                    CountText(step["levels"].size(), "level"), ByteText(step["bytes"].get<double>()),
                    CountText(step["files"].get<std::uint64_t>(), "file"), IndexFileText(step));
}

/// Returns a line for each file of steps, with a second line for its further steps. Omits lines in the middle
/// if there are more than MostFiles files.
std::string StepLines(const json& steps)
{
  std::vector<std::string> lines;
  for (std::size_t first = 0, end = 0; first < steps.size(); first = end) {
    while (end < steps.size() && steps[end]["path"] == steps[first]["path"]) {
      ++end;
    }
    lines.push_back(StepLine(steps[first]));
    if (end - first > 1) {
      lines.back() += fmt::format("    {} in the same file, up to step {}, time {}\n",
          CountText(end - first - 1, "more step"), steps[end - 1]["step"].get<std::int64_t>(),
          TimeText(steps[end - 1]));
    }
  }
  std::string text = "\nSteps\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines.size() > MostFiles && i == MostFiles / 2) {
      const std::size_t left = lines.size() - MostFiles;
      text += fmt::format("  ... {}; use --step N to show one step, --json to show all steps ...\n",
          CountText(left, "more file"));
      i += left;
    }
    text += lines[i];
  }
  return text;
}

/// Returns a line with the error of a step that cannot be opened, or else a line for each fault of the step
/// that `reported` lacks. Adds these faults to `reported`, because steps of one file may have the same
/// faults.
std::string FaultLines(const json& step, std::set<json>& reported)
{
  const std::string name = fmt::format("fault: step {}: ", step["step"].get<std::int64_t>());
  if (step.contains("error")) {
    return name + StringOf(step["error"]) + "\n";
  }
  std::string text;
  for (const json& fault : step.value("faults", json::array())) {
    if (!reported.insert(fault).second) {
      continue;
    }
    text += fmt::format("{}{} cannot be read. {}\n", name,
        CountText(fault["arrays"].get<std::uint64_t>(), "array"), StringOf(fault["message"]));
  }
  return text;
}

/// Returns the last step with a full description, or null if no step can be opened.
const json* LastDetailedStep(const json& steps)
{
  const json* last = nullptr;
  for (const json& step : steps) {
    last = step.contains("variables") ? &step : last;
  }
  return last;
}

std::string SummaryText(const json& all, const json* shown)
{
  const auto count = all["step_count"].get<std::uint64_t>();
  const bool dated = all.contains("dates");
  const json& times = dated ? all["dates"] : all["times"];
  const auto text = [dated](
                        const json& time) { return dated ? StringOf(time) : NumberText(time.get<double>()); };
  std::string summary =
      fmt::format("{}\n  format: {}\n  steps: {}, {} {}\n", StringOf(all["path"]), StringOf(all["format"]),
          count, dated ? (count == 1 ? "date" : "dates") : (count == 1 ? "time" : "times"),
          JoinEnds(text(times[0]), text(times[1])));
  if (shown) {
    const int dimension = (*shown)["dimension"].get<int>();
    summary += fmt::format("  grid: {}-D, {}{}\n", dimension, StringOf((*shown)["grid"]),
        all["bounds"].is_null() ? ", positions in a variable" : ", " + BoundsText(all["bounds"], dimension));
  }
  return summary;
}

/// Returns the JSON of `patchio info` as readable text: a summary, the last step in full, StepLines(), then
/// faults, warnings and notes.
std::string InfoText(const json& all)
{
  const json& steps = all["steps"];
  const json* const shown = LastDetailedStep(steps);
  std::string text = SummaryText(all, shown) + (shown ? StepText(*shown) : "") + StepLines(steps);
  std::string end;
  std::set<json> reported;
  for (const json& step : steps) {
    end += FaultLines(step, reported);
  }
  for (const char* const kind : {"warnings", "sidecar_warnings", "notes"}) {
    for (const json& line : all[kind]) {
      end += (std::string(kind) == "notes" ? "note: " : "warning: ") + StringOf(line) + "\n";
    }
  }
  text += end.empty() ? "" : "\n" + end;
  text.pop_back();
  return text;
}

struct InfoOptions : SeriesArguments
{
  bool Json = false;
};

/// Returns the descriptions of the steps. Without --json, only the last step and the first step of each file
/// have full descriptions, and only the last one has ranges.
json DescribeSteps(const std::vector<TimeStep>& steps, const Format& format, const InfoOptions& options)
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
      // If a file needs an index file, all steps in the file have the same patches and faults.
      all.push_back(json(all[firstOfFile]));
      all.back().update(DescribeTime(step));
    } else {
      const StepFacts facts = InspectStep(format, step, true, options.Threads);
      indexed = facts.NeedsIndexFile;
      all.push_back(DescribeStep(facts, format, full));
    }
  }
  return all;
}

/// Returns the smallest box around all fully described steps, or null if the box of any of them is unknown.
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

/// Returns whether the data have no faults. `oneStep`: true if the user has selected one step. Warnings then
/// do not count, because warnings concern other steps.
bool HasNoFaults(const json& all, bool oneStep)
{
  const auto sound = [](const json& step) {
    return !step.contains("error") && (!step.contains("faults") || step["faults"].empty());
  };
  return (oneStep || all["warnings"].empty()) && std::all_of(all["steps"].begin(), all["steps"].end(), sound);
}

json Describe(const InfoOptions& options)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const Series series = OpenSeries(*alone, {options.Path}, {options.ListedOnly});
  const std::vector<TimeStep> steps = SelectSteps(series, options.Path, options.Numbers());
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
  const std::string indexFile = SeriesIndexFile(options.Path, IndexMode::ReadOnly).Warning();
  all["sidecar_warnings"] = indexFile.empty() ? json::array() : json::array({indexFile});
  all["sound"] = HasNoFaults(all, options.Step.has_value());
  return all;
}

void Run(const InfoOptions& options, Session& session)
{
  session.OnRoot([&] {
    const json all = Describe(options);
    // Names from files may not be UTF-8.
    session.Print(options.Json ? all.dump(2, ' ', false, json::error_handler_t::replace) : InfoText(all));
    if (!all["sound"].get<bool>()) {
      throw Error(options.Path + ": some data cannot be read. The lines above say why.");
    }
  });
}

}  // namespace

void AddInfo(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("info",
      "Show the contents of data: time steps, bounds, levels and variables, and parts that are missing or "
      "damaged. Exit code 1: some parts are missing or damaged");
  const auto options = std::make_shared<InfoOptions>();
  AddSeriesArguments(*command, *options, "all time steps in brief, the last one in detail");
  command->add_flag("--json", options->Json, "Print JSON for programs, with all time steps in detail");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
