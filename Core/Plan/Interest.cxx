#include "Plan/Interest.h"

#include "Catalog/BoxBins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace patchio {
namespace {

constexpr double Everywhere = std::numeric_limits<double>::infinity();

double PositionOf(const Axis& axis, std::int64_t node)
{
  const std::int64_t last = static_cast<std::int64_t>(axis.Positions.size()) - 1;
  return axis.Positions[static_cast<std::size_t>(std::clamp<std::int64_t>(node - axis.First, 0, last))];
}

/// Of cells of the level, and so many more on each side. Axes that these have no extent along count as
/// unbounded.
Bounds GrownBounds(const Catalog& catalog, const Level& level, const Box& cells, int more)
{
  Bounds bounds{{-Everywhere, -Everywhere, -Everywhere}, {Everywhere, Everywhere, Everywhere}};
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    const std::int64_t below = std::int64_t(cells.Lower[axis]) - more;
    const std::int64_t above = std::int64_t(cells.Upper[axis]) + 1 + more;
    if (catalog.Grid == GridKind::Uniform) {
      bounds.Lower[axis] = catalog.Origin[axis] + below * level.Spacing[axis];
      bounds.Upper[axis] = catalog.Origin[axis] + above * level.Spacing[axis];
    } else if (!level.IsFlat(axis) && !catalog.Axes[axis].Positions.empty()) {
      bounds.Lower[axis] = PositionOf(catalog.Axes[axis], below);
      bounds.Upper[axis] = PositionOf(catalog.Axes[axis], above);
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

Box Grown(Box cells)
{
  for (int axis = 0; axis < 3; ++axis) {
    --cells.Lower[axis];
    ++cells.Upper[axis];
  }
  return cells;
}

/// The patches of a level, to be found by their cells; none, and null, of a level without any.
std::unique_ptr<BoxBins> BinsOf(const Catalog& catalog, const Level& level)
{
  std::vector<Box> boxes;
  for (int p = 0; p < level.PatchCount; ++p) {
    boxes.push_back(catalog.Patches[level.FirstPatch + p].Cells);
  }
  return boxes.empty() ? nullptr : std::make_unique<BoxBins>(std::move(boxes));
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

bool KnowsPlaces(const Catalog& catalog)
{
  return catalog.Grid != GridKind::Curvilinear;
}

Bounds BoundsOf(const Catalog& catalog)
{
  Bounds all{{Everywhere, Everywhere, Everywhere}, {-Everywhere, -Everywhere, -Everywhere}};
  for (std::size_t p = 0; p < catalog.Patches.size() && KnowsPlaces(catalog); ++p) {
    const Patch& patch = catalog.Patches[p];
    const bool list = catalog.RoleOf(patch.Level) == LevelRole::Points;
    const Bounds one =
        GrownBounds(catalog, catalog.Levels[patch.Level], list ? catalog.Lattice : patch.Cells, 0);
    for (int axis = 0; axis < 3; ++axis) {
      all.Lower[axis] = std::min(all.Lower[axis], std::isinf(one.Lower[axis]) ? Everywhere : one.Lower[axis]);
      all.Upper[axis] =
          std::max(all.Upper[axis], std::isinf(one.Upper[axis]) ? -Everywhere : one.Upper[axis]);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (all.Lower[axis] > all.Upper[axis]) {
      all.Lower[axis] = 0;
      all.Upper[axis] = 1;
    }
  }
  return all;
}

std::vector<bool> PatchesNear(const Catalog& catalog, const RegionOfInterest& region)
{
  std::vector<bool> near(catalog.Patches.size(), true);
  if (region.Kind == RegionOfInterest::Shape::Everything || !KnowsPlaces(catalog)) {
    return near;
  }
  for (std::size_t p = 0; p < near.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    if (catalog.RoleOf(patch.Level) != LevelRole::Points) {
      const Bounds bounds = GrownBounds(catalog, catalog.Levels[patch.Level], patch.Cells, 1);
      near[p] = region.Kind == RegionOfInterest::Shape::InBox ? MeetsBox(bounds, region)
                                                              : MeetsPlane(bounds, region);
    }
  }
  return near;
}

std::vector<bool> PatchesWithValues(
    const Catalog& catalog, const std::vector<ValueRange>& ranges, const ValueRange& wanted, bool withCoarser)
{
  std::vector<bool> marks(catalog.Patches.size(), false);
  std::unique_ptr<BoxBins> coarser;
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    std::unique_ptr<BoxBins> bins = KnowsPlaces(catalog) ? BinsOf(catalog, level) : nullptr;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      ValueRange together = ranges[p];
      if (bins) {
        const Box cells = Grown(catalog.Patches[p].Cells);
        AddMeeting(bins.get(), level, cells, ranges, wanted, together);
        if (withCoarser && level.Role == LevelRole::Refinement && l > 0) {
          AddMeeting(
              coarser.get(), catalog.Levels[l - 1], Coarsen(cells, level.Ratio), ranges, wanted, together);
        }
      }
      marks[p] = !bins || together.Meets(wanted);
    }
    coarser = std::move(bins);
  }
  return marks;
}

}  // namespace patchio
