// Planes that lie along the cells of a block: each cell of one layer gives its own polygon.
//
// A plane on faces between cells shows the cells above it, towards greater positions, and those below it
// where no visible cell lies above: each place once, and none is lost, also at the end of the domain and
// where levels meet.
#ifndef Filters_AlignedCut_h
#define Filters_AlignedCut_h

#include "Filters/CutPart.h"

#include <vector>

namespace patchio::filters {

struct AlignedPlane
{
  int Axis;
  double Position;
  bool Reversed;  ///< its normal points towards smaller positions
};

/// What an aligned plane meets of a block.
struct AlignedCut
{
  AlignedCut(const Block& block, const AlignedPlane& plane);

  const Block* Of;
  AlignedPlane Plane;
  int Inner, Outer;         ///< the axes of the layers, that with the nearer cells first
  int Layer = -1;           ///< cells above the plane, or around it; -1: none
  int Face = -1;            ///< the layer of points that the plane lies on; -1: none
  int LayerBelow = -1;      ///< cells below the face; -1: none
  std::vector<char> Below;  ///< for each cell below whether it is shown, as none lies above; empty: none

  bool Meets() const { return this->Layer >= 0 || this->LayerBelow >= 0; }
  int Rows() const { return this->Of->Cells(this->Outer); }
  /// The number of a cell of a layer in the block, of points alike.
  long long CellAt(int layer, int inner, int outer) const;
  long long PointAt(int layer, int inner, int outer) const;

  /// Sets Below, without what other blocks have above; false if there is none.
  bool FindBelow();
  /// Adds the cells of these rows to the part.
  void CutRows(int begin, int end, bool triangles, CutPart& part) const;

private:
  /// A row of the two layers: their first cells, and from cell to cell.
  struct Row
  {
    long long Above, Below, Step;
    const char* IsBelowShown;  ///< null: none is
  };

  /// The cell that is shown in this place; -1: none.
  long long ShownCell(int inner, const Row& row) const;
};

}  // namespace patchio::filters

#endif
