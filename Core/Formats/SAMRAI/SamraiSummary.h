// From summary.samrai to the head or the catalog of one dump.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/ValueRange.h"
#include "Formats/Format.h"

#include <string>

namespace patchio::samrai {

/// Time and step alone, and so cheap. Throws Error when the file is no summary or lacks them.
TimeStep ReadSummaryHead(const std::string& path);

/// Reads and checks a whole summary. Throws Error when anything needed is missing or inconsistent.
/// What it allocates is bounded by the size of the file.
Catalog ReadSummary(const std::string& path);

/// See Format::RangesOf(): of ordinary scalars. SAMRAI took the ranges before it made floats of doubles, so
/// they are widened by that.
std::vector<ValueRange> ReadValueRanges(const Catalog& catalog, int variable);

}  // namespace patchio::samrai
