// The summary of a dump: all but the values.
#pragma once

#include "Formats/SAMRAI/SamraiClusterWriter.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// Writes summary.samrai into the dump's directory. `ranges` are those of all ranks; `ranks` is their number.
/// The catalog must have a level 0 with a patch.
void WriteSummary(const std::string& directory, int ranks, const Catalog& catalog,
    const std::vector<ComponentRange>& ranges);

}  // namespace patchio::samrai
