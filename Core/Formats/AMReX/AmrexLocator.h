// <patch, variable> to places in data files.
#pragma once

#include "Formats/Format.h"

namespace patchio::amrex {

/// See Format::Locate. Of most FABs nothing is read: where the place to the next one is exactly what header
/// and numbers must take, the header is that. Of each file one header is read, and those of FABs with more or
/// less place.
LocationTable LocateInFabs(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options);

}  // namespace patchio::amrex
