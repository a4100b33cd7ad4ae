// One layer of cells around a block, from whatever lies there.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"

#include <vector>

namespace patchio {

/// Lets a block grow by one cell on each side of each axis where some patch has cells there, and fills its
/// Fringe: what of the grown box does not belong to the block comes from shown patches of its own level, else
/// of the next coarser one that has cells there (each coarse cell then stands for all fine ones in it, as
/// is). Sides that no patch covers any cell of, beyond the domain above all, stay as they are: filters such
/// as Clip take no notice of hidden cells, and the block's own must be the last ones there. What no patch
/// covers of the other sides stays open. Only patches of the block's kind count. Uniform grids only.
///
/// With such a layer, filters that look at neighbours (contour, gradient) see the same values on both sides
/// of a border between blocks, on whatever ranks they are.
void AddGhostLayer(
    const Catalog& catalog, const Nesting& nesting, const std::vector<int>& kinds, Block& block);

}  // namespace patchio
