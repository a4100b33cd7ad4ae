// Whether a location that comes from a sidecar can be read as the catalog says.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Throws Error unless what the location refers to lies inside the files, and has the types and sizes that
/// the catalog asks for on this <patch, variable>. What it refers to in `table` must be there; `fileBytes`:
/// size of each of the table's files.
void CheckLocation(const Catalog& catalog, const PatchVariable& request, const LocationTable& table,
    const Location& location, const std::vector<std::uint64_t>& fileBytes);

}  // namespace patchio
