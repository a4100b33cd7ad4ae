// From summary.samrai to the catalog of one dump.
#pragma once

#include "Catalog/Catalog.h"

#include <string>

namespace patchio::samrai {

/// Reads and checks a whole summary. Throws Error when anything needed is missing or inconsistent.
/// What it allocates is bounded by the size of the file.
Catalog ReadSummary(const std::string& path);

}  // namespace patchio::samrai
