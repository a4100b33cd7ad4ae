// From the catalog to the bytes in the processor_cluster files.
#pragma once

#include "Formats/Format.h"

namespace patchio::samrai {

/// See Format::Locate. Opens each cluster file once, through the HDF5 library.
LocationTable LocateInClusters(const Catalog& catalog, const std::vector<PatchVariable>& requests);

}  // namespace patchio::samrai
