// The corners of a block's cells, and how a surface passes between them.
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
  Int3 AxisOf{0, 1, 2};  ///< the grid's axis of each of the cell's axes
  std::array<Int3, 8> Corners{};
};

/// An edge of a cell: from a corner along one of the cell's axes. Bit t of a corner says whether it lies at
/// the upper end of axis t.
struct CellEdge
{
  int Corner, Axis;
};

/// How a surface passes through a cell: polygons for three axes, lines for two, a point for one. Two positive
/// corners on a face's diagonal are separated, and the cell on the other side of the face does the same.
using CellCase = std::vector<std::vector<CellEdge>>;

/// Returns the cases of cells with `axes` axes (0 to 3), indexed by the bit set of positive corners. The
/// normals of polygons point to the positive side. Thread-safe.
const std::vector<CellCase>& MarchingTables(int axes);

}  // namespace patchio::filters
