#include "Formats/KWave/KwaveDescription.h"

#include <algorithm>

namespace patchio::kwave {
namespace {

/// Values of a patch, about: enough that a request to the storage pays, few enough that ranks get some each.
constexpr std::int64_t WantedValues = 2 << 20;
constexpr std::int64_t MostPatches = 4096;  ///< of one part

/// The axis along which values lie farthest apart: parts are cut across it.
int SlowestAxis(const Box& cells)
{
  return cells.Width(2) > 1 ? 2 : cells.Width(1) > 1 ? 1 : 0;
}

/// Cuts at multiples of the grain, so that no chunk is read twice.
std::vector<Box> Cut(const Part& part, int slowest)
{
  const std::int64_t planes = part.Cells.Width(slowest);
  const std::int64_t ofPlane = std::max<std::int64_t>(part.Cells.Cells() / planes, 1);
  std::int64_t thick = std::max(WantedValues / ofPlane, (planes - 1) / MostPatches + 1);
  thick = (std::max<std::int64_t>(thick, 1) + part.Grain - 1) / part.Grain * part.Grain;
  std::vector<Box> boxes;
  for (std::int64_t first = 0; first < planes; first += thick) {
    Box& box = boxes.emplace_back(part.Cells);
    box.Lower[slowest] = part.Cells.Lower[slowest] + static_cast<int>(first);
    box.Upper[slowest] = part.Cells.Lower[slowest] + static_cast<int>(std::min(first + thick, planes)) - 1;
  }
  return boxes;
}

void AddSet(const PartSet& set, const KwaveDescription& description, Catalog& catalog)
{
  Level& level = catalog.Levels.emplace_back();
  const int number = static_cast<int>(catalog.Levels.size()) - 1;
  catalog.LevelNames.push_back(set.Name);
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.Role = set.Role;
  level.Spacing = description.Spacing;
  // The grain is of the last axis of the data sets; where a cuboid is flat along it, nothing is cut.
  const int last = set.Role == LevelRole::Points ? 0 : description.Dims[2] > 1 ? 2 : 1;
  for (std::size_t p = 0; p < set.Parts.size(); ++p) {
    const bool cuts = SlowestAxis(set.Parts[p].Cells) == last;
    const std::vector<Box> boxes = cuts ? Cut(set.Parts[p], last) : std::vector<Box>{set.Parts[p].Cells};
    for (const Box& box : boxes) {
      Patch& patch = catalog.Patches.emplace_back();
      patch.Cells = box;
      patch.Level = number;
      // The number of a separate box says which part it belongs to.
      patch.Number = set.Role == LevelRole::Separate
                         ? static_cast<int>(p) + 1
                         : static_cast<int>(catalog.Patches.size()) - 1 - level.FirstPatch;
    }
  }
  level.PatchCount = static_cast<int>(catalog.Patches.size()) - level.FirstPatch;
}

void AddVariables(const KwaveDescription& description, Catalog& catalog)
{
  for (const PartSet& set : description.Sets) {
    if (set.Role == LevelRole::Points) {
      Variable& positions = catalog.Variables.emplace_back();
      positions.Name = set.Name + " positions";
      positions.StoredName = set.Positions;
      positions.TimeInvariant = true;
      positions.Positions = true;
    }
  }
  for (const Quantity& quantity : description.Quantities) {
    Variable& variable = catalog.Variables.emplace_back();
    variable.Name = quantity.Name;
    variable.StoredName = quantity.Name;
    variable.TimeInvariant = !quantity.Series;
  }
}

void SetPresence(const KwaveDescription& description, Catalog& catalog)
{
  catalog.ResetPresence();
  int variable = 0;
  const auto set = [&](int level, const std::vector<bool>& parts) {
    const Level& info = catalog.Levels[level];
    for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
      const int part = info.Role == LevelRole::Separate ? catalog.Patches[p].Number - 1 : 0;
      catalog.SetPresence(variable, p, parts[part] ? Presence::Stored : Presence::Absent);
    }
    ++variable;
  };
  for (std::size_t s = 0; s < description.Sets.size(); ++s) {
    if (description.Sets[s].Role == LevelRole::Points) {
      set(static_cast<int>(s), {true});
    }
  }
  for (const Quantity& quantity : description.Quantities) {
    set(quantity.Set, quantity.Parts);
  }
}

}  // namespace

Catalog MakeCatalog(const KwaveDescription& description)
{
  Catalog catalog;
  catalog.Path = description.Path;
  catalog.Dimension = description.Dims[2] > 1 ? 3 : 2;
  catalog.Origin = description.Origin;
  if (catalog.Dimension == 2) {
    catalog.Origin[2] = 0;
  }
  catalog.Step = description.FirstStep;
  catalog.Time = description.TimeOf(description.FirstStep);
  catalog.StepsInFile = static_cast<int>(description.Steps);
  for (int axis = 0; axis < 3; ++axis) {
    catalog.Lattice.Lower[axis] = 0;
    catalog.Lattice.Upper[axis] = static_cast<int>(description.Dims[axis]) - 1;
  }
  for (const PartSet& set : description.Sets) {
    AddSet(set, description, catalog);
  }
  AddVariables(description, catalog);
  SetPresence(description, catalog);
  return catalog;
}

}  // namespace patchio::kwave
