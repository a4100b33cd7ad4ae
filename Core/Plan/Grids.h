// Which levels of a data set are seen together: those of one grid, such as k-Wave's domain or its sensor.
#pragma once

#include "Catalog/Catalog.h"

#include <string>
#include <vector>

namespace patchio {

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

}  // namespace patchio
