// A time step of any number of patches, without files.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <cstdint>
#include <vector>

namespace patchio::atscale {

/// Returns a catalog with one level of `patches` cubes of `side` cells per axis, side by side, and one
/// variable.
Catalog MakeCatalog(int patches, int side);

/// Returns the locations of the arrays of these patches. The patches follow each other, with a few thousand
/// in each file.
LocationTable LocationsOf(const Catalog& catalog, const std::vector<int>& patches, std::uint64_t arrayBytes);

}  // namespace patchio::atscale
