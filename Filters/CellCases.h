// The corners of a block's cells.
#pragma once

#include "Filters/Blocks.h"

#include <array>
#include <vector>

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

/// An edge of a cell: from a corner along one of the cell's axes. Bit t of a corner says whether it lies at
/// the upper end of axis t.
struct CellEdge
{
  int Corner, Axis;
};

/// The polygons of a cell with three axes, the lines of one with two, the point of one with one. Positive
/// corners on a face are kept apart, on both sides alike.
using CellCase = std::vector<std::vector<CellEdge>>;

/// For 0 to 3 axes; by the set of positive corners. Polygons turn so that their normal points to the positive
/// side.
const std::vector<CellCase>& CellCases(int axes);

}  // namespace patchio::filters
