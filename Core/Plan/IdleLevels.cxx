#include "Plan/IdleLevels.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace patchio {
namespace {

/// Levels that are to be seen together or not at all.
using GridOfLevels = std::vector<int>;

std::vector<GridOfLevels> GridsIn(const Catalog& catalog, int firstLevel, int lastLevel)
{
  std::vector<GridOfLevels> grids;
  GridOfLevels refined;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    if (level < firstLevel || level > lastLevel) {
      continue;
    }
    if (catalog.RoleOf(level) == LevelRole::Refinement && catalog.Grid != GridKind::Rectilinear) {
      refined.push_back(level);
    } else {
      grids.push_back({level});
    }
  }
  if (!refined.empty()) {
    grids.push_back(refined);
  }
  return grids;
}

/// True when one of the variables is present on a patch of the grid.
bool LiesOn(const GridOfLevels& grid, const Catalog& catalog, const std::vector<int>& variables)
{
  for (const int level : grid) {
    const Level& info = catalog.Levels[level];
    for (int patch = info.FirstPatch; patch < info.FirstPatch + info.PatchCount; ++patch) {
      if (std::any_of(variables.begin(), variables.end(),
              [&](int v) { return catalog.PresenceOf(v, patch) != Presence::Absent; })) {
        return true;
      }
    }
  }
  return false;
}

/// Those that are no geometry.
std::vector<int> ValuesAmong(const Catalog& catalog, const std::vector<int>& variables)
{
  std::vector<int> values;
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(values),
      [&](int v) { return v != catalog.CoordinatesVariable && !catalog.Variables[v].Positions; });
  return values;
}

}  // namespace

std::vector<bool> IdleLevels(
    const Catalog& catalog, int firstLevel, int lastLevel, const std::vector<int>& wanted)
{
  std::vector<bool> idle(catalog.Levels.size(), false);
  const std::vector<GridOfLevels> grids = GridsIn(catalog, firstLevel, lastLevel);
  const std::vector<int> wantedValues = ValuesAmong(catalog, wanted);
  if (grids.size() < 2 || wantedValues.empty()) {
    return idle;
  }
  std::vector<int> all(catalog.Variables.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int> allValues = ValuesAmong(catalog, all);
  bool any = false;
  for (const GridOfLevels& grid : grids) {
    const bool busy = LiesOn(grid, catalog, wantedValues);
    any = any || busy;
    for (const int level : grid) {
      idle[level] = !busy && LiesOn(grid, catalog, allValues);
    }
  }
  return any ? idle : std::vector<bool>(idle.size(), false);
}

}  // namespace patchio
