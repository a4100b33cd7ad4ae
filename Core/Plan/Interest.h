// The choice of levels, patches and arrays to read: levels that are seen together, patches near a box or a
// plane or with certain values, arrays that are components of a vector.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <string>
#include <vector>

namespace patchio {

/// Scalars whose names show that they are the components of one vector.
struct ComposedVector
{
  std::string Name;
  std::vector<int> Components;  ///< two or three, x first; indices into Catalog::Variables
};

/// Returns the vectors whose components are all in `variables` (indices into Catalog::Variables). Components
/// have the same centering, and their names differ in one letter: x, y and z as a word or at the beginning or
/// end of one (`x_velocity`, `velocity_x`, `ux`, `Bx`), or u, v and w as a word. In two dimensions x and y,
/// or u and v, suffice. On geographic grids u and v suffice as well, because the vertical component has other
/// units. The name of the vector lacks that letter and the separator next to it, or has "velocity" in place
/// of u, v or w. Maxima, minima and root mean squares over time, scalars on staggered grids (`rho0_sgx`) and
/// volume fractions are not composed. A name that a variable or another vector already has gets underscores.
/// A vector is left out if its name is empty, or if the data have a variable of the same name and centering,
/// with as many components or with three.
std::vector<ComposedVector> ComposedVectors(const Catalog& catalog, const std::vector<int>& variables);

/// Levels that are shown together or not at all. Levels that refine each other form one grid. Each level of
/// another role, and each level of a rectilinear grid, forms a grid of its own.
struct LevelGrid
{
  std::string Name;  ///< name of the first level
  std::vector<int> Levels;
};

/// Returns the grids of the catalog, most interesting first: grids with values that change from step to step,
/// then by the number of values. Not empty if there are levels.
std::vector<LevelGrid> GridsOf(const Catalog& catalog);

/// Returns the variables with values on the grid, without geometry, as indices into Catalog::Variables.
std::vector<int> VariablesOn(const LevelGrid& grid, const Catalog& catalog);

/// Values of the user's choice of grids that are not names of grids.
constexpr const char* AutomaticGrid = "Automatic";  ///< the most interesting grid, see ExcludedLevels()
constexpr const char* AllGrids = "All";  ///< all grids with a selected variable, or without variables

/// Returns one flag per level of the catalog: true if the level is excluded. AutomaticGrid excludes all grids
/// but the most interesting one, see GridsOf(), where only the selected variables count. AllGrids excludes
/// each grid that has variables but no selected variable, because this grid would only hide other grids;
/// AllGrids includes grids without variables, such as lists of points. If no grid has a selected variable,
/// all variables count as selected; if no grid has a variable, AutomaticGrid excludes no grid. The name of a
/// grid selects this grid, with or without values.
///
/// `firstLevel`, `lastLevel`: the levels to consider; the flags of other levels are false. `variables`: the
/// selected variables, as indices into Catalog::Variables. `choice`: AutomaticGrid, AllGrids or a
/// LevelGrid::Name. Throws Error if no grid has the name `choice`.
std::vector<bool> ExcludedLevels(const Catalog& catalog, int firstLevel, int lastLevel,
    const std::vector<int>& variables, const std::string& choice);

/// A region of space, in the coordinates of the data (longitude and latitude for geographic grids).
struct RegionOfInterest
{
  enum class Shape
  {
    Everything,
    InBox,
    OnPlane
  };
  Shape Type = Shape::Everything;
  Double3 Lower{0, 0, 0}, Upper{0, 0, 0};    ///< opposite corners of the box, in any order
  Double3 Origin{0, 0, 0}, Normal{0, 0, 1};  ///< of the plane; the normal may have any length but 0
};

/// Throws Error if a number of the box or the plane is not finite, or if the normal is 0.
void CheckRegion(const RegionOfInterest& region);

/// Returns one flag per patch: true if the patch, grown by one of its cells so that filters have the
/// neighbours that they need, meets the region. The flag is also true for patches of levels of points, and
/// for all patches if Catalog::KnowsPositions() is false.
std::vector<bool> PatchesNear(const Catalog& catalog, const RegionOfInterest& region);

/// Returns the cells of `cells`, a box of a level, that the plane of `region` may cut, and few others, as
/// disjoint boxes. For a plane normal to an axis, the result is at most one box: the layers that meet the
/// plane. For an oblique plane, the result is short columns, at most `thickness` cells wide along axes to
/// which the plane is not parallel. Returns `cells` if Catalog::KnowsPositions() is false.
std::vector<Box> CellsOnPlane(
    const Catalog& catalog, int level, const Box& cells, const RegionOfInterest& region, int thickness);

/// Returns one flag per patch: true if an iso-surface may pass through the patch or its vicinity, because the
/// values of the patch and of the patches at most two of its cells away lie on both sides of `values` or
/// within `values`. Patches of the same and of the next finer level count, and patches of the next coarser
/// level where the patch's level ends. All patches whose cells influence the position of the surface are
/// marked, so the surface is the same as that of all patches. All patches are marked if
/// Catalog::KnowsPositions() is false.
///
/// `ranges`: one per patch, in the order of Catalog::Patches. `values`: range of the values of the
/// iso-surfaces.
std::vector<bool> PatchesWithValues(
    const Catalog& catalog, const std::vector<ValueRange>& ranges, const ValueRange& values);

}  // namespace patchio
