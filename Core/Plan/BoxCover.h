// A cover of many small boxes by few large ones.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// A box to be covered, and its owner.
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
  bool Full = true;             ///< true: every cell of the box is wanted
};

struct CoverOptions
{
  /// Greatest number of cells of a box of the cover, unless a single covered box has more.
  std::int64_t MostCells = std::int64_t(1) << 26;
  /// The cost of unwanted cells: CoverBoxes() makes a box with unwanted cells only if it saves one box for
  /// each `CellsWorthABox` of its cells. 0: no box contains unwanted cells.
  std::int64_t CellsWorthABox = 8000;
};

/// Covers `wanted` with few boxes. The boxes of the result are disjoint, and each wanted cell lies in exactly
/// one part of one of these boxes. Wanted boxes are cut if that lowers the cost.
///
/// The function first splits the boxes recursively, at holes and where the cross-section changes most (M.
/// Berger and I. Rigoutsos, "An algorithm for point clustering and grid generation", 1991, which makes
/// refined patches from flagged cells). Then, from the leaves up, it merges two halves into one box if that
/// is cheaper. A box costs 1 if it is full, and otherwise 1 + its cells / CellsWorthABox, because hidden
/// cells slow filters down.
///
/// wanted: disjoint, not empty, at most 2^40 cells each. unwanted: disjoint, each within one of `wanted`;
/// these cells may be left out. Deterministic. O(n log n) for the boxes of simulations. If the search would
/// take too long or cut the boxes into too many parts, some wanted boxes stay uncut, each as a box of its
/// own.
std::vector<CoverBox> CoverBoxes(
    const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options);

}  // namespace patchio
