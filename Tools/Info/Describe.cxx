#include "Info/Describe.h"

#include "Catalog/Bounds.h"
#include "Support/RunOnAllRanks.h"

#include <cmath>

namespace patchio::tools {
namespace {

using nlohmann::json;

/// [x least, x greatest, y least ...]; null if they are not known.
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

/// The range over all patches; null unless the files say it for each patch that has the variable.
json DescribeRange(const Catalog& catalog, int variable, const Format& format)
{
  std::vector<ValueRange> ranges;
  // Faults of the files are reported elsewhere.
  const std::string ignored = CatchError([&] { ranges = format.RangesOf(catalog, variable); });
  ValueRange all = ValueRange::None();
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
    cells += catalog.Patches[p].Cells.Cells();
  }
  json all = {{"name", catalog.NameOfLevel(number)}, {"role", NameOf(level.Role)},
      {"patches", level.PatchCount}, {level.Role == LevelRole::Points ? "points" : "cells", cells},
      {"ratio", level.Ratio}, {"bounds", DescribeBounds(BoundsOfLevel(catalog, number))}};
  if (catalog.Grid == GridKind::Uniform) {
    all["spacing"] = level.Spacing;
  }
  return all;
}

/// Nodes of a rectilinear grid along each axis.
json DescribeAxes(const Catalog& catalog)
{
  json axes = json::array();
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    const Axis& along = catalog.Axes[axis];
    axes.push_back({{"positions", along.Positions}});
    if (!along.Labels.empty()) {
      axes.back()["labels"] = along.Labels;  // a label that is no number is null
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
  if (catalog.Grid == GridKind::Rectilinear) {
    all["axes"] = DescribeAxes(catalog);
  }
  return all;
}

}  // namespace

json DescribeSidecar(const StepFacts& facts)
{
  if (!facts.NeedsSidecar) {
    return {{"state", "not needed"}};
  }
  if (facts.Sidecar.Found) {
    return {{"state", "valid"}, {"path", facts.Sidecar.Found->Path}, {"bytes", facts.Sidecar.Found->Bytes}};
  }
  const SidecarState* const faulty = FaultySidecar(facts.Sidecar);
  return faulty ? json{{"state", NameOf(faulty->Fault)}, {"path", faulty->Where.Path},
                      {"reason", ReasonOf(*faulty)}}
                : json{{"state", "absent"}};
}

json DescribeTime(const TimeStep& step)
{
  json all = {{"path", step.Path}, {"step", step.Step}, {"time", step.Time}};
  if (!step.Date.empty()) {
    all["date"] = step.Date;
  }
  return all;
}

json DescribeStep(const StepFacts& facts, const Format& format, bool withRanges)
{
  json all = DescribeTime(facts.Step);
  all["sidecar"] = DescribeSidecar(facts);
  if (!facts.Data) {
    all["error"] = facts.NotOpened;
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
    all["faults"].push_back({{"arrays", fault.Arrays}, {"message", fault.First}});
  }
  return all;
}

}  // namespace patchio::tools
