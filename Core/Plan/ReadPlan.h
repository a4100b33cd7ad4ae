// The order in which a rank's read tasks are taken.
#pragma once

#include "Catalog/Extent.h"

#include <cstddef>
#include <vector>

namespace patchio {

/// All requests that produce values, as indices into `table.Locations`: first those with bytes, by file
/// and offset, so that threads working side by side read side by side; then those without (constants).
/// Absent and missing ones are left out. O(n log n).
std::vector<std::size_t> PlanReads(const LocationTable& table);

}  // namespace patchio
