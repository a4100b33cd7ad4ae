// From the catalog to the bytes in the processor_cluster files.
#pragma once

#include "Formats/Format.h"

namespace patchio::samrai {

/// See Format::Locate. Threads look into the files with PatchIO's index reader; for what that does not know,
/// or finds wanting, the calling thread asks the HDF5 library. The answer is the same for any number of
/// threads, and by the library alone, but for the notes on what the library was asked about, and for arrays
/// of thousands of chunks, which the library does not list in reasonable time: by it alone they are left for
/// it to read.
LocationTable LocateInClusters(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options = {});

}  // namespace patchio::samrai
