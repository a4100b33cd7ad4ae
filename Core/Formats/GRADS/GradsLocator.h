// Where the values of patches lie.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/Format.h"

#include <vector>

namespace patchio::grads {

/// See Format::Locate().
LocationTable LocateFields(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options);

}  // namespace patchio::grads
