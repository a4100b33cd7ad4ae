// A cover of many small boxes by few large ones.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// A box of cells, and the number of its owner.
struct OwnedBox
{
  Box Cells;
  int Owner = 0;

  bool operator==(const OwnedBox& other) const
  {
    return this->Cells == other.Cells && this->Owner == other.Owner;
  }
};

/// One box of a cover.
struct CoverBox
{
  Box Cells;
  std::vector<OwnedBox> Parts;  ///< parts of the covered boxes; disjoint, within Cells
  bool Full = true;             ///< true: the parts fill the box
};

struct CoverOptions
{
  /// Greatest number of cells of a box of the cover, unless a single covered box has more.
  std::int64_t MostCells = std::int64_t(1) << 26;
  /// The cost of a box, in cells: CoverBoxes() makes a box with gaps only if the box saves one box for each
  /// `BoxCostInCells` of its cells. 0: no box has gaps.
  std::int64_t BoxCostInCells = 8000;
};

/// Covers the cells of `boxes` outside `skippable` with few boxes. The boxes of the result are disjoint, and
/// each of these cells lies in exactly one part of the result. Boxes are cut if the cuts lower the cost.
///
/// The function first splits the boxes recursively, at holes and where the cross-section changes most (M.
/// Berger and I. Rigoutsos, "An algorithm for point clustering and grid generation", 1991, which makes
/// refined patches from flagged cells). Then, from the leaves up, the function merges two halves into one box
/// if the merged box is cheaper. A box costs 1 if it is full, and otherwise 1 + its cells / BoxCostInCells,
/// because hidden cells slow filters down.
///
/// `boxes`: disjoint, not empty, at most 2^40 cells each. `skippable`: disjoint, each within one of `boxes`;
/// the result may leave out these cells. Deterministic. O(n log n) for the boxes of simulations. If the
/// search would take too long or cut the boxes into too many parts, the rest of `boxes` is neither merged nor
/// cut further.
std::vector<CoverBox> CoverBoxes(
    const std::vector<OwnedBox>& boxes, const std::vector<Box>& skippable, const CoverOptions& options);

}  // namespace patchio
