// Few large boxes instead of many small ones.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// A box that is to be covered, and whose it is.
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
  std::vector<OwnedBox> Parts;  ///< what of the covered boxes lies in it; disjoint, within Cells
  bool Full = true;             ///< every cell of the box is wanted
};

struct CoverOptions
{
  /// No box of the cover has more cells, unless a single box to be covered has.
  std::int64_t MostCells = std::int64_t(1) << 26;
  /// A box with unwanted cells in it is made where that saves, for every so many cells of it, one box. 0: no
  /// box has unwanted cells.
  std::int64_t CellsWorthABox = 8000;
};

/// Covers `wanted` with few boxes: the boxes of the result are disjoint, and each wanted cell lies in exactly
/// one part of one of them. Boxes are cut where that helps.
///
/// The boxes are split recursively, at holes and where the cross-section changes most (the clustering of
/// M. Berger and I. Rigoutsos, IEEE Transactions on Systems, Man, and Cybernetics 21(5), 1991, which makes
/// refined patches out of flagged cells); then, from the leaves up, two
/// halves become one box again where that is cheaper. A box costs 1 if it is full, and otherwise 1 + its
/// cells / CellsWorthABox, because hidden cells make filters slow.
///
/// wanted: disjoint, none empty, none of more than 2^40 cells.
/// unwanted: disjoint, each within one of `wanted`: cells that need not be in the result, but may.
/// Deterministic. O(n log n) for boxes as simulations make them; where others would take too long or would be
/// cut into too many parts, some are left as they are, each a box by itself.
std::vector<CoverBox> CoverBoxes(
    const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options);

}  // namespace patchio
