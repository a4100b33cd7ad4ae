// Level one of two-level reading: which rank reads which block or patch.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Divides blocks into parts that are disjoint, complete and balanced by weight. A block goes to the
/// preferred rank of its first patch, so that the block stays on its rank when more or less is shown. Blocks
/// are moved for balance only if some part would exceed 1.1 times the mean plus an average block. Few blocks
/// then move to the parts with the least weight: no part exceeds 1.1 times the mean afterwards, or, if the
/// sizes of blocks do not allow that, the mean plus the heaviest block. Blocks also move to empty parts: each
/// part gets a block if there are enough blocks, and part 0 if there is any. A pure function: the same
/// arguments give the same parts on every rank.
///
/// preferred: one rank per patch, 0 .. parts-1, see PreferredRanks(). weights: one per block, >= 0, usually
/// bytes. Returns the part of each block, 0 .. parts-1. O(n log parts) in the number of blocks.
std::vector<int> PartitionBlocks(const std::vector<Block>& blocks, const std::vector<int>& preferred,
    const std::vector<std::int64_t>& weights, int parts);

/// Divides patches, given by their global numbers, like PartitionBlocks(). Returns the part of each of
/// `patches`.
std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts);

/// Returns the preferred rank of each patch: the rank that reads the patch as long as the load is balanced
/// (see PartitionBlocks()), so that values in memory stay useful when more or less is shown.
///
/// Each level is divided separately, by recursive bisection across the longest axis, into boxes with about
/// the same number of cells; all patches whose centres lie in one box prefer the same rank. Any choice of
/// levels is therefore balanced, and neighbouring patches mostly prefer the same rank. A pure function of the
/// levels and boxes of the entire step: the same on every rank.
///
/// parts >= 1. Each entry of the result is a part, 0 .. parts-1. O(n log parts) in the number of patches.
std::vector<int> PreferredRanks(const Catalog& catalog, int parts);

/// Splits the types of PatchTypes() by preferred rank, so that no block consists of patches with different
/// preferred ranks. `patchTypes`, `preferred` and the result have one entry per patch.
std::vector<int> TypesByPreferredRank(const std::vector<int>& patchTypes, const std::vector<int>& preferred);

}  // namespace patchio
