// The corners of a block's cells.
#ifndef Filters_CellShape_h
#define Filters_CellShape_h

#include "Filters/Blocks.h"

namespace patchio::filters {

/// The corners of a cell as steps from its first point, along the axes that have more than one point. Bit t
/// of a corner says whether it lies at the upper end of the t-th of these axes.
struct CellShape
{
  explicit CellShape(const Block& block)
  {
    for (int axis = 0; axis < 3; ++axis) {
      if (block.Points[axis] > 1) {
        for (int c = 0; c < 8; ++c) {
          this->Corners[c][axis] = (c >> this->Axes) & 1;
        }
        this->AxisOf[this->Axes++] = axis;
      }
    }
  }

  int Count() const { return 1 << this->Axes; }

  int Axes = 0;
  Int3 AxisOf{0, 1, 2};  ///< of the grid
  std::array<Int3, 8> Corners{};
};

}  // namespace patchio::filters

#endif
