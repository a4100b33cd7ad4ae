// Level one of two-level reading: which rank reads a patch, whatever else is shown.
#pragma once

#include "Catalog/Catalog.h"

#include <vector>

namespace patchio {

/// The preferred rank of each patch: the part that reads it, as long as that is balanced (see
/// PartitionBlocks()), so that values which were read once stay useful when more or less is shown.
///
/// Each level by itself is divided into boxes of about the same number of cells, by recursive bisection
/// across the longest axis; the patches with their centres in a box are one part's. So any choice of levels
/// is balanced, and what lies side by side has the same preferred rank.
/// A pure function of the levels and boxes of the whole step: the same on every rank.
///
/// parts >= 1. Result: for each patch its part, 0 .. parts-1. O(n log parts) in the number of patches.
std::vector<int> PreferredRanks(const Catalog& catalog, int parts);

/// Kinds (see KindsOfPatches()) that also differ where preferred ranks do, so that no block is made of
/// patches with different preferred ranks. One entry per patch in all of them.
std::vector<int> KindsByPreferredRank(const std::vector<int>& kinds, const std::vector<int>& preferred);

}  // namespace patchio
