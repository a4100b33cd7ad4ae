// The seam of grids that go around the globe: the cells between the last column of nodes and the first one.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"

#include <vector>

namespace patchio {

/// True where columns of nodes of a geographic grid cover all longitudes once, so that the last column is a
/// cell's width from the first one: the number of columns times their distance is 360 degrees, to within half
/// a cell. All values must be at nodes, as there are none for the cells between, and each patch must have all
/// columns. MakePlan() closes such grids where they are put on a sphere.
bool GoesAround(const Catalog& catalog);

/// Adds the cells between the last column and the first one to the blocks that have the last column, and to
/// their parts of it. The nodes behind the last column are those of the first one again.
void CloseSeam(const Catalog& catalog, std::vector<Block>& blocks);

}  // namespace patchio
