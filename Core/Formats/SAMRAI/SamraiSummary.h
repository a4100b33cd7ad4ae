// The head of one dump; SamraiSummary.cxx also reads the whole summary into a catalog.
#pragma once

#include "Formats/Format.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// Time and step alone, and so cheap. Throws Error when the file is no summary or lacks them.
TimeStep ReadSummaryHead(const std::string& path);

}  // namespace patchio::samrai
