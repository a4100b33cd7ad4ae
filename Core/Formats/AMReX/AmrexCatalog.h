// From Header and the levels' Cell_H to the catalog of one plotfile.
#pragma once

#include "Catalog/Catalog.h"

#include <string>

namespace patchio::amrex {

/// `path` is the plotfile's Header. Throws Error when something is missing or cannot be. What it allocates is
/// bounded by the size of the files.
Catalog ReadPlotCatalog(const std::string& path);

}  // namespace patchio::amrex
