// A time step of any number of patches, without files.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <cstdint>
#include <vector>

namespace patchio::atscale {

/// One level of `patches` cubes of `side` cells per axis side by side, with one variable.
Catalog MakeCatalog(int patches, int side);

/// Where the arrays of these patches lie: all patches one after another, the first few thousand in the first
/// file and so on.
LocationTable LocationsOf(const Catalog& catalog, const std::vector<int>& patches, std::uint64_t arrayBytes);

}  // namespace patchio::atscale
