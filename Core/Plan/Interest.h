// What is worth reading: which levels are seen together, which patches are near a box or a plane or may hold
// certain values, which arrays are components of a vector.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <string>
#include <vector>

namespace patchio {

/// Scalars that are the components of one vector, by their names.
struct ComposedVector
{
  std::string Name;
  std::vector<int> Components;  ///< two or three, x first; indices into Catalog::Variables
};

/// Vectors whose components are all among the wanted variables, which are indices into Catalog::Variables:
/// names that differ in a word, or at the begin or end of one, that is x, y and z (`x_velocity`,
/// `velocity_x`, `ux`, `Bx`), or that have u, v and w as a word. In two dimensions x and y, or u and v,
/// suffice; so do u and v, whatever w, where the grid is geographic, as its vertical component has other
/// units. Names stay as they are but for that letter; of u, v and w it becomes "velocity". Maxima, minima and
/// the like over time are no vectors. A name that a variable has gets an underscore. No vector is composed if
/// the data have it: a variable of its name, at the same place, with as many components or with three.
std::vector<ComposedVector> VectorsAmong(const Catalog& catalog, const std::vector<int>& wanted);

/// Levels that are seen together or not at all. Levels that refine each other are one grid; a level of
/// another role, and each level of a rectilinear grid, is a grid of its own.
struct LevelGrid
{
  std::string Name;  ///< that of its first level
  std::vector<int> Levels;
};

/// The grids of the catalog, the one that people most likely want first: those with values that change from
/// step to step, then by the number of stored values. At least one where there are levels.
std::vector<LevelGrid> GridsOf(const Catalog& catalog);

/// The variables with values on the grid, without geometry, as indices into Catalog::Variables.
std::vector<int> VariablesOn(const LevelGrid& grid, const Catalog& catalog);

/// Which grids the user wants to see, beside the names of grids.
constexpr const char* AutomaticGrid = "Automatic";  ///< the first one of GridsOf() with a wanted variable
constexpr const char* AllGrids = "All";             ///< each one with a wanted variable

/// One flag a level of the catalog: whether it is left out. With AutomaticGrid and AllGrids, grids without
/// a wanted variable are left out, as they would only hide others; with
/// AllGrids those without any variable (lists of points, say) stay. Where no grid has a wanted variable, all
/// variables count as wanted. A name shows that grid, with or without values.
///
/// firstLevel, lastLevel: the levels that count; others are not left out. wanted: indices into
/// Catalog::Variables. choice: AutomaticGrid, AllGrids or a LevelGrid::Name. Throws Error where there is no
/// such grid.
std::vector<bool> LevelsLeftOut(const Catalog& catalog, int firstLevel, int lastLevel,
    const std::vector<int>& wanted, const std::string& choice);

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
