#include "Formats/CutBox.h"
#include "Formats/VTKHDF/VtkhdfFile.h"
#include "Formats/VTKHDF/VtkhdfFormat.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <cmath>

namespace patchio::vtkhdf {
namespace {

/// Cells of a level in one of the next coarser, from the sizes of both.
int RatioOf(const FileFacts& facts, int level, int axis)
{
  const double coarse = facts.Levels[level - 1].Spacing[axis], fine = facts.Levels[level].Spacing[axis];
  const double ratio = std::round(coarse / fine);
  if (!(ratio >= 1 && ratio <= 1 << 20 && std::abs(coarse / fine - ratio) < 1e-6 * ratio)) {
    throw FileError(facts.Path,
        fmt::format("cells of level {} that fit into those of the level before", level),
        fmt::format("{} and {} along axis {}", fine, coarse, axis), "The file is damaged");
  }
  return static_cast<int>(ratio);
}

void AddLevel(const FileFacts& facts, int number, Catalog& catalog)
{
  const LevelFacts& from = facts.Levels[number];
  Level& level = catalog.Levels.emplace_back();
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.Spacing = from.Spacing;
  level.FlatAxes = facts.FlatAxes;
  for (int axis = 0; axis < facts.Dimension && number > 0; ++axis) {
    level.Ratio[axis] = RatioOf(facts, number, axis);
  }
  const bool image = facts.Type == FileType::Image;
  const std::vector<Box> boxes = image ? CutAcross(from.Boxes[0], SlowestAxis(from.Boxes[0])) : from.Boxes;
  for (const Box& box : boxes) {
    Patch& patch = catalog.Patches.emplace_back();
    patch.Cells = box;
    patch.Level = number;
    patch.Number = level.PatchCount++;
  }
}

/// Levels may have different arrays, but those of one name must have one form.
int VariableOf(const LevelArray& array, const std::string& path, Catalog& catalog)
{
  const std::string stored = DatasetOf(array.Center, array.Name);
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    if (catalog.Variables[v].StoredName == stored) {
      if (catalog.Variables[v].Components != array.Components) {
        throw FileError(path, fmt::format("as many components of '{}' on all levels", PlainText(stored)),
            fmt::format("{} and {}", catalog.Variables[v].Components, array.Components),
            "The file is damaged");
      }
      return static_cast<int>(v);
    }
  }
  Variable& variable = catalog.Variables.emplace_back();
  variable.Name = array.Name;
  variable.StoredName = stored;
  variable.Center = array.Center;
  variable.Components = array.Components;
  variable.Interleaved = array.Components > 1;
  return static_cast<int>(catalog.Variables.size()) - 1;
}

void AddVariables(const FileFacts& facts, Catalog& catalog)
{
  std::vector<std::vector<int>> ofLevels;
  for (const LevelFacts& level : facts.Levels) {
    std::vector<int>& variables = ofLevels.emplace_back();
    for (const LevelArray& array : level.Arrays) {
      variables.push_back(VariableOf(array, facts.Path, catalog));
    }
  }
  catalog.ResetPresence();
  for (std::size_t l = 0; l < ofLevels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    for (const int variable : ofLevels[l]) {
      for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
        catalog.SetPresence(variable, p, Presence::Stored);
      }
    }
  }
}

/// The number at the end of the file's name, before its ending; 0 without one.
std::int64_t NumberInName(const std::string& path)
{
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t end = name.find_last_of("0123456789", name.rfind('.'));
  if (end == std::string::npos || end + 1 != name.rfind('.')) {
    return 0;
  }
  const std::size_t before = name.find_last_not_of("0123456789", end);
  const std::string digits = name.substr(before == std::string::npos ? 0 : before + 1, end - before);
  return digits.size() < 18 ? std::stoll(digits) : 0;
}

TimeStep StepOf(const FileFacts& facts)
{
  TimeStep step;
  step.Path = facts.Path;
  step.Step = NumberInName(facts.Path);
  step.Time = facts.Time.value_or(0);
  return step;
}

}  // namespace

Series VtkhdfFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  Series series;
  const auto known = options.Known ? options.Known(path) : std::nullopt;
  if (known) {
    series.Steps.push_back(*known);
    return series;
  }
  const FileFacts facts = ReadFacts(path);
  series.Steps.push_back(StepOf(facts));
  series.Notes = facts.Notes;
  return series;
}

Catalog VtkhdfFormat::ReadCatalog(const std::string& path) const
{
  const FileFacts facts = ReadFacts(path);
  const TimeStep step = StepOf(facts);
  Catalog catalog;
  catalog.Path = facts.Path;
  catalog.Dimension = facts.Dimension;
  catalog.Origin = facts.Origin;
  catalog.Time = step.Time;
  catalog.Step = step.Step;
  for (std::size_t level = 0; level < facts.Levels.size(); ++level) {
    AddLevel(facts, static_cast<int>(level), catalog);
  }
  AddVariables(facts, catalog);
  catalog.FormatData.push_back(static_cast<std::byte>(facts.Type));
  return catalog;
}

}  // namespace patchio::vtkhdf
