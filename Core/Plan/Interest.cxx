#include "Plan/Interest.h"

#include "Base/Error.h"
#include "Catalog/Bounds.h"
#include "Catalog/BoxBins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace patchio {
namespace {

constexpr double Everywhere = Bounds::Everywhere;

/// Bounds of cells of a level and of so many more on each side; unbounded along axes on which they have no
/// extent.
Bounds GrownBounds(const Catalog& catalog, int level, const Box& cells, int more)
{
  Bounds bounds{{-Everywhere, -Everywhere, -Everywhere}, {Everywhere, Everywhere, Everywhere}};
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    const std::int64_t below = std::int64_t(cells.Lower[axis]) - more;
    const std::int64_t above = std::int64_t(cells.Upper[axis]) + 1 + more;
    if (catalog.Grid == GridKind::Uniform ||
        (!catalog.Levels[level].IsFlat(axis) && !catalog.Axes[axis].Positions.empty())) {
      bounds.Lower[axis] = PositionOfNode(catalog, level, axis, below);
      bounds.Upper[axis] = PositionOfNode(catalog, level, axis, above);
    }
  }
  return bounds;
}

bool MeetsBox(const Bounds& bounds, const RegionOfInterest& region)
{
  for (int axis = 0; axis < 3; ++axis) {
    const auto [lower, upper] = std::minmax(region.Lower[axis], region.Upper[axis]);
    if (bounds.Lower[axis] > upper || bounds.Upper[axis] < lower) {
      return false;
    }
  }
  return true;
}

/// Corners on both sides, or one on the plane. What is unbounded along an axis that the normal has a part of
/// reaches every plane.
bool MeetsPlane(const Bounds& bounds, const RegionOfInterest& region)
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

/// Finds the cells of a level on a plane: columns along the axis on which the plane rises most, as long as it
/// needs.
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
      if (rise > most && width < Everywhere) {
        most = rise;
        this->Along = axis;
      }
    }
    this->Find(cells);
  }

  std::vector<Box> Found;

private:
  void Find(const Box& cells)
  {
    if (!this->Meets(cells)) {
      return;
    }
    int widest = this->Along;
    for (int axis = 0; axis < 3; ++axis) {
      const bool matters = axis != this->Along && this->Plane.Normal[axis] != 0;
      if (matters && cells.Width(axis) > (widest == this->Along ? this->Thickness : cells.Width(widest))) {
        widest = axis;
      }
    }
    if (widest == this->Along) {
      this->Found.push_back(this->Shortened(cells));
      return;
    }
    Box first = cells, second = cells;
    first.Upper[widest] = cells.Lower[widest] + static_cast<int>((cells.Width(widest) - 1) / 2);
    second.Lower[widest] = first.Upper[widest] + 1;
    this->Find(first);
    this->Find(second);
  }

  /// Without the layers at both ends that do not meet the plane.
  Box Shortened(Box cells) const
  {
    int& first = cells.Lower[this->Along];
    int& last = cells.Upper[this->Along];
    const int begin = first, end = last;
    Box part = cells;
    for (int low = begin, high = end; low < high; first = low) {
      int& middle = part.Upper[this->Along] = low + (high - low) / 2;
      this->Meets(part) ? high = middle : low = middle + 1;
    }
    part.Upper[this->Along] = end;
    for (int low = begin, high = end; low < high; last = high) {
      int& middle = part.Lower[this->Along] = high - (high - low) / 2;
      this->Meets(part) ? low = middle : high = middle - 1;
    }
    return cells;
  }

  /// Also if the plane is away from the box by rounding.
  bool Meets(const Box& cells) const
  {
    constexpr double near = 1e-6;  // in widths of the box
    Bounds bounds = GrownBounds(this->Data, this->LevelNumber, cells, 0);
    for (int axis = 0; axis < 3; ++axis) {
      const double more = near * (bounds.Upper[axis] - bounds.Lower[axis]);
      bounds.Lower[axis] -= more;
      bounds.Upper[axis] += more;
    }
    return MeetsPlane(bounds, this->Plane);
  }

  const Catalog& Data;
  const int LevelNumber;
  const RegionOfInterest& Plane;
  const int Thickness;
  int Along = 0;
};

/// The patches of a level, to be found by their cells; none, and null, of a level without any.
std::unique_ptr<BoxBins> BinsOf(const Catalog& catalog, const Level& level)
{
  std::vector<Box> boxes;
  for (int p = 0; p < level.PatchCount; ++p) {
    boxes.push_back(catalog.Patches[level.FirstPatch + p].Cells);
  }
  return boxes.empty() ? nullptr : std::make_unique<BoxBins>(std::move(boxes));
}

/// Whether boxes have all cells of a box.
bool IsCovered(const BoxBins& bins, const Box& cells)
{
  std::vector<Box> open{cells};
  bins.ForEachMeeting(cells, [&](int other) {
    std::vector<Box> left;
    for (const Box& box : open) {
      Subtract(box, Intersect(box, bins[other]), left);
    }
    open = std::move(left);
    return !open.empty();
  });
  return open.empty();
}

/// The range of all patches of a level that share a cell with a box, or any that meets `enough`.
void AddMeeting(const BoxBins* bins, const Level& level, const Box& cells,
    const std::vector<ValueRange>& ranges, const ValueRange& enough, ValueRange& together)
{
  if (bins) {
    bins->ForEachMeeting(cells, [&](int other) {
      together.Add(ranges[level.FirstPatch + other]);
      return !together.Meets(enough);
    });
  }
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
  if (region.Kind == RegionOfInterest::Shape::InBox) {
    check("A corner", region.Lower);
    check("A corner", region.Upper);
  } else if (region.Kind == RegionOfInterest::Shape::OnPlane) {
    check("The origin", region.Origin);
    check("The normal", region.Normal);
    if (region.Normal == Double3{0, 0, 0}) {
      throw Error("The normal of the region's plane is (0, 0, 0). Choose a direction, such as (0, 0, 1).");
    }
  }
}

bool KnowsPositions(const Catalog& catalog)
{
  return catalog.HasPlacedBoxes();
}

std::vector<bool> PatchesNear(const Catalog& catalog, const RegionOfInterest& region)
{
  std::vector<bool> near(catalog.Patches.size(), true);
  if (region.Kind == RegionOfInterest::Shape::Everything || !KnowsPositions(catalog)) {
    return near;
  }
  for (std::size_t p = 0; p < near.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    if (catalog.RoleOf(patch.Level) != LevelRole::Points) {
      const Bounds bounds = GrownBounds(catalog, patch.Level, patch.Cells, 1);
      near[p] = region.Kind == RegionOfInterest::Shape::InBox ? MeetsBox(bounds, region)
                                                              : MeetsPlane(bounds, region);
    }
  }
  return near;
}

std::vector<Box> CellsOnPlane(
    const Catalog& catalog, int level, const Box& cells, const RegionOfInterest& region, int thickness)
{
  if (!KnowsPositions(catalog)) {
    return {cells};
  }
  return PlaneSearch(catalog, level, cells, region, thickness).Found;
}

std::vector<bool> PatchesWithValues(
    const Catalog& catalog, const std::vector<ValueRange>& ranges, const ValueRange& wanted)
{
  std::vector<std::unique_ptr<BoxBins>> bins;
  for (const Level& level : catalog.Levels) {
    bins.push_back(KnowsPositions(catalog) ? BinsOf(catalog, level) : nullptr);
  }
  std::vector<bool> marks(catalog.Patches.size(), false);
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    const bool refines = l > 0 && level.Role == LevelRole::Refinement;
    const bool refined = l + 1 < bins.size() && catalog.Levels[l + 1].Role == LevelRole::Refinement;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      ValueRange together = ranges[p];
      if (bins[l]) {
        // All cells around a node are within two of each of them.
        const Box cells = Grown(catalog.Patches[p].Cells, {2, 2, catalog.Dimension > 2 ? 2 : 0});
        AddMeeting(bins[l].get(), level, cells, ranges, wanted, together);
        if (refines && !IsCovered(*bins[l], cells)) {
          const Level& coarser = catalog.Levels[l - 1];
          AddMeeting(bins[l - 1].get(), coarser, Coarsen(cells, level.Ratio), ranges, wanted, together);
        }
        if (refined) {
          const Level& finer = catalog.Levels[l + 1];
          AddMeeting(bins[l + 1].get(), finer, Refine(cells, finer.Ratio), ranges, wanted, together);
        }
      }
      marks[p] = !bins[l] || together.Meets(wanted);
    }
  }
  return marks;
}

}  // namespace patchio
