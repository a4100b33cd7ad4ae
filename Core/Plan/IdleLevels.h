// Which levels nothing that is wanted lies on.
#pragma once

#include "Catalog/Catalog.h"

#include <vector>

namespace patchio {

/// Levels of which none of the wanted variables is to be seen; they would only stand in the way of others.
/// One flag a level of the catalog. Levels that refine each other are one grid, and idle together or not at
/// all; a level of another role, and each of a rectilinear grid, is a grid of its own. Never idle are grids
/// that no variable lies on (lists of places, say), and all of them where nothing wanted lies on any.
///
/// firstLevel, lastLevel: the levels that count; others are not idle. wanted: indices into
/// Catalog::Variables.
std::vector<bool> IdleLevels(
    const Catalog& catalog, int firstLevel, int lastLevel, const std::vector<int>& wanted);

}  // namespace patchio
