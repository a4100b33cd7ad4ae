#include "Plan/Grids.h"

#include "Base/Error.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

namespace patchio {
namespace {

/// Grids of these levels, in the order of their first ones.
std::vector<LevelGrid> GridsWithin(const Catalog& catalog, int firstLevel, int lastLevel)
{
  std::vector<LevelGrid> grids;
  int refined = -1;  // the number of the grid of levels that refine each other
  const int last = std::min(lastLevel, static_cast<int>(catalog.Levels.size()) - 1);
  for (int level = std::max(firstLevel, 0); level <= last; ++level) {
    const bool refines =
        catalog.RoleOf(level) == LevelRole::Refinement && catalog.Grid != GridKind::Rectilinear;
    if (refines && refined >= 0) {
      grids[refined].Levels.push_back(level);
      continue;
    }
    refined = refines ? static_cast<int>(grids.size()) : refined;
    grids.push_back({catalog.NameOfLevel(level), {level}});
  }
  return grids;
}

/// Calls visit(variable, patch) for what is present on the grid, until it gives true; whether it did.
template <typename Visit>
bool AnyOn(const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables, Visit visit)
{
  for (const int level : grid.Levels) {
    const Level& info = catalog.Levels[level];
    for (int patch = info.FirstPatch; patch < info.FirstPatch + info.PatchCount; ++patch) {
      for (const int v : variables) {
        if (catalog.PresenceOf(v, patch) != Presence::Absent && visit(v, patch)) {
          return true;
        }
      }
    }
  }
  return false;
}

bool LiesOn(const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables)
{
  return AnyOn(grid, catalog, variables, [](int, int) { return true; });
}

/// Those that are no geometry.
std::vector<int> ValuesAmong(const Catalog& catalog, const std::vector<int>& variables)
{
  std::vector<int> values;
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(values),
      [&](int v) { return !catalog.IsGeometry(v); });
  return values;
}

std::vector<int> AllValues(const Catalog& catalog)
{
  std::vector<int> all(catalog.Variables.size());
  std::iota(all.begin(), all.end(), 0);
  return ValuesAmong(catalog, all);
}

/// How much people want to see these variables on the grid: a larger pair is more.
std::pair<bool, std::int64_t> WorthOf(
    const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables)
{
  bool changes = false;
  std::int64_t values = 0;
  AnyOn(grid, catalog, variables, [&](int v, int patch) {
    changes = changes || !catalog.Variables[v].TimeInvariant;
    values += catalog.StoredTuples(v, patch) * catalog.Variables[v].Components;
    return false;
  });
  return {changes, values};
}

void SortByWorth(std::vector<LevelGrid>& grids, const Catalog& catalog, const std::vector<int>& variables)
{
  if (grids.size() < 2) {
    return;
  }
  std::vector<std::pair<std::pair<bool, std::int64_t>, LevelGrid>> worths;
  for (LevelGrid& grid : grids) {
    const auto worth = WorthOf(grid, catalog, variables);
    worths.emplace_back(worth, std::move(grid));
  }
  std::stable_sort(
      worths.begin(), worths.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(
      worths.begin(), worths.end(), grids.begin(), [](auto& entry) { return std::move(entry.second); });
}

const LevelGrid& GridOfName(
    const Catalog& catalog, const std::vector<LevelGrid>& grids, const std::string& name)
{
  const auto found =
      std::find_if(grids.begin(), grids.end(), [&](const LevelGrid& grid) { return grid.Name == name; });
  if (found == grids.end()) {
    std::string names = std::string(AutomaticGrid) + ", " + AllGrids;
    for (const LevelGrid& grid : grids) {
      names += ", " + grid.Name;
    }
    throw FileError(catalog.Path, "one of these values for Grids: " + names, "'" + name + "'",
        "Select one of these grids");
  }
  return *found;
}

/// The grids that are shown when the user names none.
std::vector<LevelGrid> ChooseGrids(
    const Catalog& catalog, std::vector<LevelGrid> grids, const std::vector<int>& wanted, bool all)
{
  const std::vector<int> values = AllValues(catalog);
  std::vector<int> counting = ValuesAmong(catalog, wanted);
  if (std::none_of(grids.begin(), grids.end(),
          [&](const LevelGrid& grid) { return LiesOn(grid, catalog, counting); })) {
    counting = values;
  }
  SortByWorth(grids, catalog, counting);
  if (!all && LiesOn(grids.front(), catalog, values)) {
    return {grids.front()};
  }
  grids.erase(std::remove_if(grids.begin(), grids.end(),
                  [&](const LevelGrid& grid) {
                    return !LiesOn(grid, catalog, counting) && LiesOn(grid, catalog, values);
                  }),
      grids.end());
  return grids;
}

}  // namespace

std::vector<LevelGrid> GridsOf(const Catalog& catalog)
{
  std::vector<LevelGrid> grids = GridsWithin(catalog, 0, static_cast<int>(catalog.Levels.size()));
  SortByWorth(grids, catalog, AllValues(catalog));
  return grids;
}

std::vector<int> VariablesOn(const LevelGrid& grid, const Catalog& catalog)
{
  std::vector<int> variables = AllValues(catalog);
  variables.erase(std::remove_if(variables.begin(), variables.end(),
                      [&](int variable) { return !LiesOn(grid, catalog, {variable}); }),
      variables.end());
  return variables;
}

std::vector<bool> LevelsLeftOut(const Catalog& catalog, int firstLevel, int lastLevel,
    const std::vector<int>& wanted, const std::string& choice)
{
  std::vector<bool> leftOut(catalog.Levels.size(), false);
  const std::vector<LevelGrid> grids = GridsWithin(catalog, firstLevel, lastLevel);
  std::vector<LevelGrid> chosen;
  if (choice != AutomaticGrid && choice != AllGrids) {
    chosen = {GridOfName(catalog, GridsWithin(catalog, 0, static_cast<int>(catalog.Levels.size())), choice)};
  } else if (grids.size() > 1) {
    chosen = ChooseGrids(catalog, grids, wanted, choice == AllGrids);
  } else {
    return leftOut;
  }
  for (const LevelGrid& grid : grids) {
    for (const int level : grid.Levels) {
      leftOut[level] = std::none_of(chosen.begin(), chosen.end(), [level](const LevelGrid& other) {
        return std::find(other.Levels.begin(), other.Levels.end(), level) != other.Levels.end();
      });
    }
  }
  return leftOut;
}

}  // namespace patchio
