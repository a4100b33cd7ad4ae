// Where the values of patches lie.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <vector>

namespace patchio::grads {

/// See Format::Locate().
LocationTable LocateFields(const Catalog& catalog, const std::vector<PatchVariable>& requests);

}  // namespace patchio::grads
