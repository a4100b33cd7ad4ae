// Level one of two-level reading: which rank reads which block or patch.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Divides blocks into parts that are disjoint, complete and balanced by weight. A block goes to the
/// preferred rank of its first patch, so that it stays there when more or less is shown. Only when some part
/// would have more than 1.1 times the mean and an average block on top, blocks move to the parts with least
/// weight: as few as are needed until no part has more than 1.1 times the mean, or as near to that as the
/// sizes of blocks allow (no part then has more than the mean and the heaviest block). Each part gets a block
/// if there are enough, and part 0 in any case. A pure function: the same arguments give the same parts on
/// every rank.
///
/// preferred: one per patch, 0 .. parts-1: see PreferredRanks(). weights: one per block, >= 0, bytes as
/// a rule. Result: for each block its part, 0 .. parts-1. O(n log parts) in the number of blocks.
std::vector<int> PartitionBlocks(const std::vector<Block>& blocks, const std::vector<int>& preferred,
    const std::vector<std::int64_t>& weights, int parts);

/// The same for patches, given by their global numbers: for each of `patches` its part.
std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts);

/// The preferred rank of each patch: the rank that reads it as long as the load is balanced (see
/// PartitionBlocks()), so that values which were read once stay useful when more or less is shown.
///
/// Each level by itself is divided into boxes of about the same number of cells, by recursive bisection
/// across the longest axis; all patches with their centres in one box prefer the same rank. So any choice of
/// levels is balanced, and neighbouring patches mostly prefer the same rank.
/// A pure function of the levels and boxes of the whole step: the same on every rank.
///
/// parts >= 1. Result: for each patch its part, 0 .. parts-1. O(n log parts) in the number of patches.
std::vector<int> PreferredRanks(const Catalog& catalog, int parts);

/// Numbers of kinds (see KindsOfPatches()) that also differ where preferred ranks differ, so that no block is
/// made of patches with different preferred ranks. One entry per patch in each list.
std::vector<int> KindsByPreferredRank(const std::vector<int>& kinds, const std::vector<int>& preferred);

}  // namespace patchio
