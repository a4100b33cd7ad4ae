// Which faces of visible cells lie between two blocks, so that nobody sees them.
#ifndef Extract_CoveredFaces_h
#define Extract_CoveredFaces_h

#include "Extract/CellLattice.h"
#include "Extract/VisibleSurface.h"

#include <vector>

namespace patchio::extract {

class CoveredFaces
{
public:
  /// blocks: uniform or rectilinear ones of three dimensions, which must outlive this.
  explicit CoveredFaces(const std::vector<const Block*>& blocks);

  /// False where cells of different levels do not fit each other: then no face counts as covered.
  bool Fits() const { return this->Lattice.Misfit().empty(); }

  /// Whether visible cells of the blocks lie behind all of a face of the block with this number. For any
  /// thread.
  bool IsCovered(int block, const OuterFace& face) const;

private:
  CellLattice Lattice;
};

}  // namespace patchio::extract

#endif
