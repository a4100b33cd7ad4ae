// Level one of two-level reading: patches are divided over the ranks.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Divides patches into parts that are disjoint, complete, balanced by weight and compact in space: the
/// patches are lined up along a Morton curve through their centres and the line is cut into equal weights.
/// Each part gets a patch if there are enough; with fewer patches than parts the last parts are empty.
/// A pure function: the same arguments give the same parts on every rank.
///
/// patches: global patch numbers. weights: one per entry of `patches`, >= 0, bytes as a rule.
/// parts >= 1. Result: for each entry of `patches` its part, 0 .. parts-1.
std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts);

}  // namespace patchio
