#include "Plan/Interest.h"

#include "Base/Error.h"
#include "Catalog/Box.h"
#include "Catalog/Catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace patchio {

namespace {

/// The properties that the components of one vector share: the text before and after the letter, whether the
/// letter is u, v or w, and the centering.
using Family = std::tuple<std::string, std::string, bool, Centering>;

bool IsLetter(const std::string& text, std::size_t i)
{
  return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
}

/// Returns whether a name ends in k-Wave's suffix of staggered grids: "rho0_sgx" is the same scalar for each
/// axis, not a component of a vector.
bool IsStaggered(const std::string& name)
{
  return name.size() > 4 && name.compare(name.size() - 4, 3, "_sg") == 0;
}

/// Returns whether a name denotes a maximum, minimum or root mean square over time, whose components belong
/// to different times.
bool IsStatistic(const std::string& name)
{
  for (const char* word : {"_max", "_min", "_rms"}) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 4)) {
      if (!IsLetter(name, at + 4)) {
        return true;
      }
    }
  }
  return false;
}

/// Adds the variable to each family that it may belong to, one for each letter that may denote a component.
void AddToFamilies(std::map<Family, std::array<int, 3>>& families, const Variable& variable, int number)
{
  const std::string& name = variable.Name;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || !IsLetter(name, i - 1), ends = !IsLetter(name, i + 1);
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    const bool isCoordinate = letter >= 'x' && letter <= 'z', isVelocity = letter >= 'u' && letter <= 'w';
    if ((!isCoordinate && !isVelocity) || (isCoordinate && !begins && !ends) ||
        (isVelocity && !(begins && ends))) {
      continue;
    }
    // Families distinguish upper and lower case: X and x are not components of one vector.
    const bool upper = letter != name[i];
    const Family family{
        name.substr(0, i) + (upper ? "+" : "-"), name.substr(i + 1), isVelocity, variable.Center};
    families.emplace(family, std::array<int, 3>{-1, -1, -1})
        .first->second[letter - (isCoordinate ? 'x' : 'u')] = number;
  }
}

/// Returns the name of a family's vector: u, v or w becomes "velocity"; x, y or z is removed, with the
/// separator next to it. Empty if no other text is left.
std::string NameOfVector(const Family& family)
{
  const auto& [before, after, isVelocity, center] = family;
  std::string head = before.substr(0, before.size() - 1), tail = after;
  if (isVelocity) {
    return head + "velocity" + tail;
  }
  const auto separates = [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); };
  if (!head.empty() && separates(head.back())) {
    head.pop_back();
  } else if (head.empty() && !tail.empty() && separates(tail.front())) {
    tail.erase(0, 1);
  }
  return head + tail;
}

}  // namespace

std::vector<ComposedVector> ComposedVectors(const Catalog& catalog, const std::vector<int>& variables)
{
  std::map<Family, std::array<int, 3>> families;
  for (const int number : variables) {
    const Variable& variable = catalog.Variables[number];
    if (variable.Components == 1 && variable.Material < 0 && !catalog.IsGeometry(number) &&
        !IsStatistic(variable.Name) && !IsStaggered(variable.Name)) {
      AddToFamilies(families, variable, number);
    }
  }
  std::vector<ComposedVector> vectors;
  for (const auto& [family, components] : families) {
    const bool flat = catalog.Dimension == 2 || (catalog.Geographic && std::get<2>(family));
    const auto last = components.begin() + (flat ? 2 : 3);
    if (std::find(components.begin(), last, -1) == last && !NameOfVector(family).empty()) {
      vectors.push_back({NameOfVector(family), {components.begin(), last}});
    }
  }
  const auto isThere = [&catalog](const ComposedVector& vector) {
    const Centering center = catalog.Variables[vector.Components.front()].Center;
    return std::any_of(catalog.Variables.begin(), catalog.Variables.end(), [&](const Variable& variable) {
      return variable.Name == vector.Name && variable.Center == center &&
             (variable.Components == 3 || variable.Components == static_cast<int>(vector.Components.size()));
    });
  };
  vectors.erase(std::remove_if(vectors.begin(), vectors.end(), isThere), vectors.end());
  std::sort(vectors.begin(), vectors.end(),
      [](const ComposedVector& a, const ComposedVector& b) { return a.Components < b.Components; });
  std::set<std::string> names;
  for (ComposedVector& vector : vectors) {
    while (catalog.FindVariable(vector.Name) >= 0 || !names.insert(vector.Name).second) {
      vector.Name += '_';
    }
  }
  return vectors;
}

namespace {

/// Returns the grids of the given levels, in the order of their first levels.
std::vector<LevelGrid> GridsWithin(const Catalog& catalog, int firstLevel, int lastLevel)
{
  std::vector<LevelGrid> grids;
  int refined = -1;  // index of the grid whose levels refine each other
  const int last = std::min(lastLevel, static_cast<int>(catalog.Levels.size()) - 1);
  for (int level = std::max(firstLevel, 0); level <= last; ++level) {
    const bool refines =
        catalog.RoleOf(level) == LevelRole::Refinement && catalog.Grid != GridType::Rectilinear;
    if (refines && refined >= 0) {
      grids[refined].Levels.push_back(level);
      continue;
    }
    refined = refines ? static_cast<int>(grids.size()) : refined;
    grids.push_back({catalog.NameOfLevel(level), {level}});
  }
  return grids;
}

/// Calls visit(variable, patch) for each of the variables that exists on a patch of the grid, until `visit`
/// returns true. Returns whether `visit` returned true.
template <typename Visit>
bool AnyArrayOn(const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables, Visit visit)
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

bool HasAnyOf(const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables)
{
  return AnyArrayOn(grid, catalog, variables, [](int, int) { return true; });
}

/// Returns the variables that are data, not geometry.
std::vector<int> DataVariables(const Catalog& catalog, const std::vector<int>& variables)
{
  std::vector<int> values;
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(values),
      [&](int v) { return !catalog.IsGeometry(v); });
  return values;
}

std::vector<int> AllDataVariables(const Catalog& catalog)
{
  std::vector<int> all(catalog.Variables.size());
  std::iota(all.begin(), all.end(), 0);
  return DataVariables(catalog, all);
}

/// Returns how interesting the variables on the grid are, see GridsOf(): whether some change over time, and
/// the number of values. Greater pairs are more interesting.
std::pair<bool, std::int64_t> InterestOf(
    const LevelGrid& grid, const Catalog& catalog, const std::vector<int>& variables)
{
  bool changes = false;
  std::int64_t values = 0;
  AnyArrayOn(grid, catalog, variables, [&](int v, int patch) {
    changes = changes || !catalog.Variables[v].TimeInvariant;
    values += catalog.StoredTuples(v, patch) * catalog.Variables[v].Components;
    return false;
  });
  return {changes, values};
}

void SortByInterest(std::vector<LevelGrid>& grids, const Catalog& catalog, const std::vector<int>& variables)
{
  if (grids.size() < 2) {
    return;
  }
  std::vector<std::pair<std::pair<bool, std::int64_t>, LevelGrid>> worths;
  for (LevelGrid& grid : grids) {
    const auto worth = InterestOf(grid, catalog, variables);
    worths.emplace_back(worth, std::move(grid));
  }
  std::stable_sort(
      worths.begin(), worths.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(
      worths.begin(), worths.end(), grids.begin(), [](auto& entry) { return std::move(entry.second); });
}

const LevelGrid& FindGrid(
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
        "Select one of these values");
  }
  return *found;
}

/// Returns the grids to show if the user selects no grid by name.
std::vector<LevelGrid> ChooseGrids(
    const Catalog& catalog, std::vector<LevelGrid> grids, const std::vector<int>& variables, bool allGrids)
{
  const std::vector<int> values = AllDataVariables(catalog);
  std::vector<int> selected = DataVariables(catalog, variables);
  if (std::none_of(grids.begin(), grids.end(),
          [&](const LevelGrid& grid) { return HasAnyOf(grid, catalog, selected); })) {
    selected = values;
  }
  SortByInterest(grids, catalog, selected);
  if (!allGrids && HasAnyOf(grids.front(), catalog, values)) {
    return {grids.front()};
  }
  grids.erase(std::remove_if(grids.begin(), grids.end(),
                  [&](const LevelGrid& grid) {
                    return !HasAnyOf(grid, catalog, selected) && HasAnyOf(grid, catalog, values);
                  }),
      grids.end());
  return grids;
}

}  // namespace

std::vector<LevelGrid> GridsOf(const Catalog& catalog)
{
  std::vector<LevelGrid> grids = GridsWithin(catalog, 0, static_cast<int>(catalog.Levels.size()));
  SortByInterest(grids, catalog, AllDataVariables(catalog));
  return grids;
}

std::vector<int> VariablesOn(const LevelGrid& grid, const Catalog& catalog)
{
  std::vector<int> variables = AllDataVariables(catalog);
  variables.erase(std::remove_if(variables.begin(), variables.end(),
                      [&](int variable) { return !HasAnyOf(grid, catalog, {variable}); }),
      variables.end());
  return variables;
}

std::vector<bool> ExcludedLevels(const Catalog& catalog, int firstLevel, int lastLevel,
    const std::vector<int>& variables, const std::string& choice)
{
  std::vector<bool> excluded(catalog.Levels.size(), false);
  const std::vector<LevelGrid> grids = GridsWithin(catalog, firstLevel, lastLevel);
  std::vector<LevelGrid> chosen;
  if (choice != AutomaticGrid && choice != AllGrids) {
    chosen = {FindGrid(catalog, GridsWithin(catalog, 0, static_cast<int>(catalog.Levels.size())), choice)};
  } else if (grids.size() > 1) {
    chosen = ChooseGrids(catalog, grids, variables, choice == AllGrids);
  } else {
    return excluded;
  }
  for (const LevelGrid& grid : grids) {
    for (const int level : grid.Levels) {
      excluded[level] = std::none_of(chosen.begin(), chosen.end(), [level](const LevelGrid& other) {
        return std::find(other.Levels.begin(), other.Levels.end(), level) != other.Levels.end();
      });
    }
  }
  return excluded;
}

namespace {

constexpr double Infinity = Bounds::Infinity;

/// Returns the bounds of cells of a level, grown by `layers` cells on each side. Axes from Catalog::Dimension
/// on, and flat axes of rectilinear grids, are unbounded.
Bounds GrownBounds(const Catalog& catalog, int level, const Box& cells, int layers)
{
  Bounds bounds{{-Infinity, -Infinity, -Infinity}, {Infinity, Infinity, Infinity}};
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    const std::int64_t below = std::int64_t(cells.Lower[axis]) - layers;
    const std::int64_t above = std::int64_t(cells.Upper[axis]) + 1 + layers;
    if (catalog.Grid == GridType::Uniform ||
        (!catalog.Levels[level].IsFlat(axis) && !catalog.Axes[axis].Positions.empty())) {
      bounds.Lower[axis] = PositionOfNode(catalog, level, axis, below);
      bounds.Upper[axis] = PositionOfNode(catalog, level, axis, above);
    }
  }
  return bounds;
}

bool IntersectsBox(const Bounds& bounds, const RegionOfInterest& region)
{
  for (int axis = 0; axis < 3; ++axis) {
    const auto [lower, upper] = std::minmax(region.Lower[axis], region.Upper[axis]);
    if (bounds.Lower[axis] > upper || bounds.Upper[axis] < lower) {
      return false;
    }
  }
  return true;
}

/// Returns whether corners lie on both sides of the plane, or one corner lies on the plane. Bounds that are
/// infinite along an axis with a component of the normal meet every plane.
bool IntersectsPlane(const Bounds& bounds, const RegionOfInterest& region)
{
  double least = 0, most = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (region.Normal[axis] != 0) {
      const double a = (bounds.Lower[axis] - region.Origin[axis]) * region.Normal[axis];
      const double b = (bounds.Upper[axis] - region.Origin[axis]) * region.Normal[axis];
      least += std::min(a, b);
      most += std::max(a, b);
    }
  }
  return least <= 0 && most >= 0;
}

/// Finds the cells of a level that a plane cuts, as columns along the axis on which the distance to the plane
/// changes most per cell. Each column is as long as the plane requires.
class PlaneSearch
{
public:
  PlaneSearch(
      const Catalog& catalog, int level, const Box& cells, const RegionOfInterest& plane, int thickness)
      : Data(catalog), LevelNumber(level), Plane(plane), Thickness(thickness)
  {
    const Bounds bounds = GrownBounds(catalog, level, cells, 0);
    double most = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double width = bounds.Upper[axis] - bounds.Lower[axis];
      const double rise = std::abs(plane.Normal[axis]) * width / static_cast<double>(cells.Width(axis));
      if (rise > most && width < Infinity) {
        most = rise;
        this->ColumnAxis = axis;
      }
    }
    this->Search(cells);
  }

  std::vector<Box> Found;

private:
  void Search(const Box& cells)
  {
    if (!this->Intersects(cells)) {
      return;
    }
    int widest = this->ColumnAxis;
    for (int axis = 0; axis < 3; ++axis) {
      const bool matters = axis != this->ColumnAxis && this->Plane.Normal[axis] != 0;
      if (matters &&
          cells.Width(axis) > (widest == this->ColumnAxis ? this->Thickness : cells.Width(widest))) {
        widest = axis;
      }
    }
    if (widest == this->ColumnAxis) {
      this->Found.push_back(this->Shortened(cells));
      return;
    }
    Box first = cells, second = cells;
    first.Upper[widest] = cells.Lower[widest] + static_cast<int>((cells.Width(widest) - 1) / 2);
    second.Lower[widest] = first.Upper[widest] + 1;
    this->Search(first);
    this->Search(second);
  }

  /// Returns `cells` without the layers at both ends that do not meet the plane.
  Box Shortened(Box cells) const
  {
    int& first = cells.Lower[this->ColumnAxis];
    int& last = cells.Upper[this->ColumnAxis];
    const int begin = first, end = last;
    Box part = cells;
    for (int low = begin, high = end; low < high; first = low) {
      int& middle = part.Upper[this->ColumnAxis] = low + (high - low) / 2;
      this->Intersects(part) ? high = middle : low = middle + 1;
    }
    part.Upper[this->ColumnAxis] = end;
    for (int low = begin, high = end; low < high; last = high) {
      int& middle = part.Lower[this->ColumnAxis] = high - (high - low) / 2;
      this->Intersects(part) ? low = middle : high = middle - 1;
    }
    return cells;
  }

  /// Returns whether the plane meets the box, with a tolerance for rounding.
  bool Intersects(const Box& cells) const
  {
    constexpr double near = 1e-6;  // in widths of the box
    Bounds bounds = GrownBounds(this->Data, this->LevelNumber, cells, 0);
    for (int axis = 0; axis < 3; ++axis) {
      const double more = near * (bounds.Upper[axis] - bounds.Lower[axis]);
      bounds.Lower[axis] -= more;
      bounds.Upper[axis] += more;
    }
    return IntersectsPlane(bounds, this->Plane);
  }

  const Catalog& Data;
  const int LevelNumber;
  const RegionOfInterest& Plane;
  const int Thickness;
  int ColumnAxis = 0;
};

/// Returns bins of the patches of a level.
BoxBins BinsOf(const Catalog& catalog, const Level& level)
{
  std::vector<Box> boxes;
  for (int p = 0; p < level.PatchCount; ++p) {
    boxes.push_back(catalog.Patches[level.FirstPatch + p].Cells);
  }
  return BoxBins(std::move(boxes));
}

/// Returns whether the boxes together cover `cells`.
bool IsCovered(const BoxBins& bins, const Box& cells)
{
  std::vector<Box> open{cells};
  bins.ForEachIntersecting(cells, [&](int other) {
    std::vector<Box> left;
    for (const Box& box : open) {
      Subtract(box, Intersect(box, bins[other]), left);
    }
    open = std::move(left);
    return !open.empty();
  });
  return open.empty();
}

/// Adds the ranges of the patches of a level that share a cell with `cells` to `together`, until `together`
/// meets `target`.
void AddIntersectingRanges(const BoxBins& bins, const Level& level, const Box& cells,
    const std::vector<ValueRange>& ranges, const ValueRange& target, ValueRange& together)
{
  bins.ForEachIntersecting(cells, [&](int other) {
    together.Add(ranges[level.FirstPatch + other]);
    return !together.Intersects(target);
  });
}

}  // namespace

void CheckRegion(const RegionOfInterest& region)
{
  const auto check = [](const char* name, const Double3& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) {
        throw Error(
            fmt::format("{} of the region is ({}). Use finite numbers.", name, fmt::join(values, ", ")));
      }
    }
  };
  if (region.Type == RegionOfInterest::Shape::InBox) {
    check("A corner", region.Lower);
    check("A corner", region.Upper);
  } else if (region.Type == RegionOfInterest::Shape::OnPlane) {
    check("The origin", region.Origin);
    check("The normal", region.Normal);
    if (region.Normal == Double3{0, 0, 0}) {
      throw Error("The normal of the region's plane is (0, 0, 0). Choose a direction, such as (0, 0, 1).");
    }
  }
}

std::vector<bool> PatchesNear(const Catalog& catalog, const RegionOfInterest& region)
{
  std::vector<bool> near(catalog.Patches.size(), true);
  if (region.Type == RegionOfInterest::Shape::Everything || !catalog.KnowsPositions()) {
    return near;
  }
  for (std::size_t p = 0; p < near.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    if (catalog.RoleOf(patch.Level) != LevelRole::Points) {
      const Bounds bounds = GrownBounds(catalog, patch.Level, patch.Cells, 1);
      near[p] = region.Type == RegionOfInterest::Shape::InBox ? IntersectsBox(bounds, region)
                                                              : IntersectsPlane(bounds, region);
    }
  }
  return near;
}

std::vector<Box> CellsOnPlane(
    const Catalog& catalog, int level, const Box& cells, const RegionOfInterest& region, int thickness)
{
  if (!catalog.KnowsPositions()) {
    return {cells};
  }
  return PlaneSearch(catalog, level, cells, region, thickness).Found;
}

std::vector<bool> PatchesWithValues(
    const Catalog& catalog, const std::vector<ValueRange>& ranges, const ValueRange& values)
{
  std::vector<bool> marks(catalog.Patches.size(), true);
  if (!catalog.KnowsPositions()) {
    return marks;
  }
  std::vector<BoxBins> bins;
  for (const Level& level : catalog.Levels) {
    bins.push_back(BinsOf(catalog, level));
  }
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    const bool refines = l > 0 && level.Role == LevelRole::Refinement;
    const bool refined = l + 1 < bins.size() && catalog.Levels[l + 1].Role == LevelRole::Refinement;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      ValueRange together = ranges[p];
      // All cells around a node are at most two cells away from each other.
      const Box cells = Grow(catalog.Patches[p].Cells, {2, 2, catalog.Dimension > 2 ? 2 : 0});
      AddIntersectingRanges(bins[l], level, cells, ranges, values, together);
      if (refines && !IsCovered(bins[l], cells)) {
        const Level& coarser = catalog.Levels[l - 1];
        AddIntersectingRanges(bins[l - 1], coarser, Coarsen(cells, level.Ratio), ranges, values, together);
      }
      if (refined) {
        const Level& finer = catalog.Levels[l + 1];
        AddIntersectingRanges(bins[l + 1], finer, Refine(cells, finer.Ratio), ranges, values, together);
      }
      marks[p] = together.Intersects(values);
    }
  }
  return marks;
}

}  // namespace patchio
