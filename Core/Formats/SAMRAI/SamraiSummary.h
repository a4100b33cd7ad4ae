// The head of one dump; SamraiSummary.cxx also reads the whole summary into a catalog.
#pragma once

#include "Formats/Format.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// Reads time and step of a dump, which is cheap. Throws Error when the file is not a summary or lacks them.
TimeStep ReadSummaryHead(const std::string& path);

}  // namespace patchio::samrai
