// From Header and the levels' Cell_H to the catalog of one plotfile.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/ValueRange.h"

#include <string>

namespace patchio::amrex {

/// `path` is the plotfile's Header. Throws Error when something is missing or cannot be. What it allocates is
/// bounded by the size of the files.
Catalog ReadPlotCatalog(const std::string& path);

/// See Format::RangesOf().
std::vector<ValueRange> ReadPlotRanges(const Catalog& catalog, int variable);

}  // namespace patchio::amrex
