// Which faces of visible cells lie between two blocks, so that nobody sees them.
#ifndef Extract_CoveredFaces_h
#define Extract_CoveredFaces_h

#include "Extract/CellSet.h"
#include "Extract/VisibleSurface.h"

#include <vector>

namespace patchio::extract {

class CoveredFaces
{
public:
  /// Collective. blocks: uniform or rectilinear ones of three dimensions, which must outlive this; those of
  /// other ranks are looked at, too.
  CoveredFaces(const std::vector<const Block*>& blocks, Communicator& ranks);

  /// Whether visible cells lie behind all of a face of the block with this number. For any thread. Where
  /// cells of different levels do not fit each other, no face counts as covered.
  bool IsCovered(int block, const OuterFace& face) const;

private:
  const CellSet Cells;
  const CellLattice Lattice;
};

}  // namespace patchio::extract

#endif
