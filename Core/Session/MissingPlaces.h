// Blocks that have no places in space.
#pragma once

#include "Catalog/Catalog.h"
#include "Session/LoadRequest.h"

#include <vector>

namespace patchio {

/// A fault for each block of the request whose node positions (curvilinear grids) or positions of points were
/// asked for, and are nowhere in the files.
std::vector<LoadFault> MissingPlaces(
    const Catalog& catalog, const LoadRequest& request, const LoadResult& loaded);

}  // namespace patchio
