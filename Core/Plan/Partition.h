// Level one of two-level reading: blocks of patches are divided over the ranks.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Divides blocks into parts that are disjoint, complete, balanced by weight and compact in space: the
/// blocks are lined up along a Morton curve through their centres and the line is cut into equal weights.
/// Each part gets a block if there are enough; with fewer blocks than parts the last parts are empty.
/// A pure function: the same arguments give the same parts on every rank.
///
/// weights: one per block, >= 0, bytes as a rule. parts >= 1.
/// Result: for each block its part, 0 .. parts-1.
std::vector<int> PartitionBlocks(const Catalog& catalog, const std::vector<Block>& blocks,
    const std::vector<std::int64_t>& weights, int parts);

/// The same for patches, given by their global numbers: for each of `patches` its part.
std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts);

}  // namespace patchio
