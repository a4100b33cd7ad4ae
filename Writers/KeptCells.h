// Which cells of a block of boxes are its own, and which only surround them or fill gaps.
#ifndef KeptCells_h
#define KeptCells_h

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

struct KeptCells
{
  std::vector<Box> Boxes;   ///< disjoint; empty when no cell is kept
  bool NeedsFlags = false;  ///< the cells that are left out are too scattered for boxes, so all are kept
};

/// A flag in addition to VTK's: no finer level that is written covers this refined cell, so reading would not
/// hide it.
constexpr unsigned char UncoveredCell = 1 << 6;

/// How flags are meant.
struct FlagMeaning
{
  bool OfWholePatch =
      false;           ///< duplicates within the block are cells that another patch has too: they are kept
  bool OfAmr = false;  ///< duplicates are always ghost cells; our reader's refined cells are duplicates, too
};

/// Refined cells are kept, since finer levels hide them again. Other hidden cells and duplicates (layers of
/// ghost cells, gaps between the patches of a merged block, cells that the user has blanked) are left out, as
/// are UncoveredCells.
///
/// flags: of vtkDataSetAttributes and UncoveredCell, one a cell of the box, axis 0 fastest; null: none is
/// set.
KeptCells FindKeptCells(const Box& cells, const unsigned char* flags, FlagMeaning meaning);

}  // namespace patchio

#endif
