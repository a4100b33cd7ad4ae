// Which patches are worth reading: those near a box or a plane, those that may hold certain values. Pure
// functions.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/ValueRange.h"

#include <vector>

namespace patchio {

/// A part of space, in the coordinates of the data (longitude and latitude for geographic grids).
struct RegionOfInterest
{
  enum class Shape
  {
    Everything,
    InBox,
    OnPlane
  };
  Shape Kind = Shape::Everything;
  Double3 Lower{0, 0, 0}, Upper{0, 0, 0};    ///< corners of the box, in any order
  Double3 Origin{0, 0, 0}, Normal{0, 0, 1};  ///< of the plane; any length of the normal but 0
};

/// Throws Error for a box or plane with a number that is not finite, and for a plane whose normal is 0.
void CheckRegion(const RegionOfInterest& region);

/// False where the positions of patches are not known before these are read: for curvilinear grids.
bool KnowsPositions(const Catalog& catalog);

/// One flag per patch: true where the patch, grown by one of its cells so that what filters need of
/// neighbours is there too, meets the region. Lists of points, and all patches where KnowsPositions() is
/// false, do.
std::vector<bool> PatchesNear(const Catalog& catalog, const RegionOfInterest& region);

/// The cells of a box of a level that the plane of a region may cut, with few others, as disjoint boxes: all
/// layers that a plane along the cells meets, as one box, or short columns of that thickness along an oblique
/// plane. The whole box where KnowsPositions() is false.
std::vector<Box> CellsOnPlane(
    const Catalog& catalog, int level, const Box& cells, const RegionOfInterest& region, int thickness);

/// One flag per patch: true where the patch, together with those that are at most two of its cells away, has
/// values on both sides of `wanted` or in it, so that an iso-surface may pass through it or between them:
/// those of its level, finer ones, and coarser ones where its level ends. Wherever the surface passes, all
/// patches are marked whose cells influence its position: it is the same as that of all patches. All patches
/// where KnowsPositions() is false.
///
/// ranges: one per patch, in Catalog::Patches' order.
std::vector<bool> PatchesWithValues(
    const Catalog& catalog, const std::vector<ValueRange>& ranges, const ValueRange& wanted);

}  // namespace patchio
