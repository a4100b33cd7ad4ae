// Level one of two-level reading: which rank reads a patch, whatever else is shown.
#pragma once

#include "Catalog/Catalog.h"

#include <vector>

namespace patchio {

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
