// From the catalog to the bytes in k-Wave files.
#pragma once

#include "Formats/Format.h"

namespace patchio::kwave {

/// See Format::Locate. PatchIO's index reader looks into the files; for what it does not know the HDF5
/// library is asked.
LocationTable LocateInFiles(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options = {});

}  // namespace patchio::kwave
