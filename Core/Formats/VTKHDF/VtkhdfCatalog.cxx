#include "Base/Error.h"
#include "Formats/CutBox.h"
#include "Formats/VTKHDF/VtkhdfFile.h"
#include "Formats/VTKHDF/VtkhdfFormat.h"
#include "Formats/VTKHDF/VtkhdfPlaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace patchio::vtkhdf {
namespace {

/// Returns the refinement ratio of a level to the next coarser one, from the cell sizes of both. Throws
/// Error.
int RatioOf(const FileFacts& facts, int level, int axis)
{
  const double coarse = facts.Levels[level - 1].Spacing[axis], fine = facts.Levels[level].Spacing[axis];
  const double ratio = std::round(coarse / fine);
  if (!(ratio >= 1 && ratio <= 1 << 20 && std::abs(coarse / fine - ratio) < 1e-6 * ratio)) {
    throw FileError(facts.Path,
        fmt::format("cells of level {} that divide those of the coarser level", level),
        fmt::format("{} and {} along axis {}", fine, coarse, axis), "The file is damaged");
  }
  return static_cast<int>(ratio);
}

void AddPartition(const FileFacts& facts, const MeshSize& mesh, Catalog& catalog)
{
  constexpr std::int64_t most = 1 << 30;
  if (mesh.AllCells() > most) {
    throw FileError(facts.Path, fmt::format("at most {} cells in a partition", most),
        fmt::format("{}", mesh.AllCells()), "Write the mesh in more partitions");
  }
  Patch& patch = catalog.Patches.emplace_back();
  patch.Cells.Lower = {0, 0, 0};
  patch.Cells.Upper = {static_cast<int>(std::max<std::int64_t>(mesh.AllCells(), 1)) - 1, 0, 0};
  patch.Number = catalog.Levels[0].PatchCount++;
  catalog.Meshes.push_back(mesh);
}

std::vector<Box> BoxesOf(const FileFacts& facts, const LevelFacts& level)
{
  return facts.Type == FileType::Image ? CutAcross(level.Boxes[0], SlowestAxis(level.Boxes[0]), level.Grain)
                                       : level.Boxes;
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
  for (const MeshSize& mesh : from.Meshes) {
    AddPartition(facts, mesh, catalog);
  }
  for (const Box& box : BoxesOf(facts, from)) {
    Patch& patch = catalog.Patches.emplace_back();
    patch.Cells = box;
    patch.Level = number;
    patch.Number = level.PatchCount++;
  }
}

/// Returns the variable for an array, and adds it if necessary. Levels may have different arrays, but arrays
/// of one name must have the same number of components. Throws Error.
int VariableOf(const LevelArray& array, const std::string& path, Catalog& catalog)
{
  const std::string& stored = array.Stored;
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    if (catalog.Variables[v].StoredName == stored) {
      if (catalog.Variables[v].Components != array.Components) {
        throw FileError(path,
            fmt::format("the same number of components of '{}' on all levels", PlainText(stored)),
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
  variable.Role = array.Role;
  variable.CellList = array.CellList;
  return static_cast<int>(catalog.Variables.size()) - 1;
}

/// Returns whether the array is the same at all steps: the patches do not change, and the array begins at the
/// same place at all steps.
bool IsTimeInvariant(const FileFacts& facts, const LevelArray& array)
{
  return facts.Times.size() > 1 && !facts.PatchesChange &&
         std::all_of(array.First.begin(), array.First.end(),
             [&](std::uint64_t first) { return first == array.First[0]; });
}

/// Marks the variable as absent on the patches of a level on which its array has no entries.
void SetPresence(int variable, const Level& level, Catalog& catalog)
{
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const Variable& info = catalog.Variables[variable];
    const bool empty = catalog.StoredTuples(variable, p) == 0 ||
                       (info.Role == MeshRole::Offsets && catalog.Meshes[p].Cells[info.CellList] == 0);
    catalog.SetPresence(variable, p, empty ? Presence::Absent : Presence::Stored);
  }
}

void AddVariables(const FileFacts& facts, Catalog& catalog, PlacesOfSteps& places)
{
  std::vector<std::vector<int>> ofLevels;
  for (const LevelFacts& level : facts.Levels) {
    std::vector<int>& variables = ofLevels.emplace_back();
    for (const LevelArray& array : level.Arrays) {
      variables.push_back(VariableOf(array, facts.Path, catalog));
    }
  }
  places = PlacesOfSteps(catalog);
  catalog.ResetPresence();
  std::vector<bool> changes(catalog.Variables.size(), false);
  for (std::size_t l = 0; l < ofLevels.size(); ++l) {
    for (std::size_t a = 0; a < ofLevels[l].size(); ++a) {
      const int variable = ofLevels[l][a];
      const LevelArray& array = facts.Levels[l].Arrays[a];
      SetPresence(variable, catalog.Levels[l], catalog);
      places.Set(static_cast<int>(l), variable, array.First);
      changes[variable] = changes[variable] || !IsTimeInvariant(facts, array);
    }
  }
  for (std::size_t v = 0; v < changes.size(); ++v) {
    catalog.Variables[v].TimeInvariant = !changes[v];
  }
}

/// Returns the number at the end of the file's name, before its extension; 0 if there is none.
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

TimeStep StepOf(const FileFacts& facts, int number)
{
  TimeStep step;
  step.Path = facts.Path;
  step.InFile = number;
  step.Step = facts.Times.empty() ? NumberInName(facts.Path) : number;
  step.Time = facts.Times.empty() ? facts.Time.value_or(0) : facts.Times[static_cast<std::size_t>(number)];
  return step;
}

GridKind GridOf(FileType type)
{
  return type == FileType::Unstructured ? GridKind::Unstructured
         : type == FileType::Polygons   ? GridKind::Polygonal
                                        : GridKind::Uniform;
}

Catalog CatalogOf(const FileFacts& facts)
{
  Catalog catalog;
  catalog.Path = facts.Path;
  catalog.Grid = GridOf(facts.Type);
  catalog.Dimension = facts.Dimension;
  catalog.Origin = facts.Origin;
  catalog.StepsInFile = std::max(static_cast<int>(facts.Times.size()), 1);
  catalog.PatchesChange = facts.PatchesChange;
  for (std::size_t level = 0; level < facts.Levels.size(); ++level) {
    AddLevel(facts, static_cast<int>(level), catalog);
  }
  PlacesOfSteps places;
  AddVariables(facts, catalog, places);
  catalog.FormatData = places.Pack(facts.Type, !facts.LeftOut.empty());
  SetStep(catalog, StepOf(facts, facts.Step));
  return catalog;
}

}  // namespace

Series VtkhdfFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  Series series;
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  const auto known = options.Known ? options.Known(absolute) : std::nullopt;
  if (known) {
    series.Steps.push_back(*known);
    return series;
  }
  const FileFacts facts = ReadFacts(absolute);
  for (int step = 0; step < std::max(static_cast<int>(facts.Times.size()), 1); ++step) {
    series.Steps.push_back(StepOf(facts, step));
  }
  series.Warnings = facts.LeftOut;
  return series;
}

Catalog VtkhdfFormat::ReadCatalog(const std::string& path) const
{
  return CatalogOf(ReadFacts(path));
}

Catalog VtkhdfFormat::ReadStep(const TimeStep& step) const
{
  return CatalogOf(ReadFacts(step.Path, step.InFile));
}

bool VtkhdfFormat::NeedsIndex(const Catalog& catalog) const
{
  FileType type = FileType::None;
  return catalog.StepsInFile == 1 && PlacesOfSteps(catalog, type).AreOfAllArrays();
}

}  // namespace patchio::vtkhdf
