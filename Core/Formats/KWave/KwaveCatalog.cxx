#include "Formats/CutBox.h"
#include "Formats/KWave/KwaveDescription.h"
#include "Formats/KWave/KwaveFile.h"

namespace patchio::kwave {
namespace {

void AddSet(const PartSet& set, const KwaveDescription& description, Catalog& catalog)
{
  Level& level = catalog.Levels.emplace_back();
  const int number = static_cast<int>(catalog.Levels.size()) - 1;
  catalog.LevelNames.push_back(set.Name);
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.Role = set.Role;
  level.Spacing = description.Spacing;
  // The grain is that of the data sets' last axis; a cuboid that is flat along this axis is not cut.
  const int last = set.Role == LevelRole::Points ? 0 : description.Dims[2] > 1 ? 2 : 1;
  for (std::size_t p = 0; p < set.Parts.size(); ++p) {
    const bool cuts = SlowestAxis(set.Parts[p].Cells) == last;
    const std::vector<Box> boxes =
        cuts ? CutAcross(set.Parts[p].Cells, last, set.Parts[p].Grain) : std::vector<Box>{set.Parts[p].Cells};
    for (const Box& box : boxes) {
      Patch& patch = catalog.Patches.emplace_back();
      patch.Cells = box;
      patch.Level = number;
      // The number of a separate box is that of its part.
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
      positions.Name = PositionsOf(set.Name);
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
