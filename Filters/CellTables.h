// Tables for the cells of a block: the corners of a cell, a surface through a cell, and the kept part of a
// clipped cell.
#pragma once

#include "Filters/Blocks.h"

#include <array>
#include <utility>
#include <vector>

namespace patchio::filters {

/// The corners of a block's cells, as steps from the first corner. A cell has the axes along which the block
/// has more than one point. Bit t of a corner's number is set if the corner lies at the upper end of the
/// cell's axis t.
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

  int CornerCount() const { return 1 << this->Axes; }

  int Axes = 0;                   ///< number of axes of a cell
  Int3 AxisOf{0, 1, 2};           ///< the grid's axis for each axis of the cell
  std::array<Int3, 8> Corners{};  ///< the steps to each corner, along the axes of the grid
};

/// A point of a cell that a surface cuts: a positive corner (a corner on the positive side), or the crossing
/// of the surface with an edge. The positive corner and the axis of the edge identify the edge.
struct CellPoint
{
  int Corner;     ///< number of the positive corner, see CellShape
  int Axis = -1;  ///< axis of the cell along the edge; -1: the point is the corner

  /// Returns the number of the corner at the lower (Lower()) or upper (Upper()) end of the edge.
  int Lower() const { return this->Corner & ~(1 << this->Axis); }
  int Upper() const { return this->Corner | 1 << this->Axis; }
};

/// The corners of a polygon in or on a cell, in the order around the polygon.
using CellPolygon = std::vector<CellPoint>;

/// The corners of a face of a cell, in the order around the face.
using Ring = std::array<int, 4>;

/// Returns the runs of positive corners around a face; no run if all corners are positive. `positive`: bit
/// set of positive corners. A run is a pair of indices in `ring`: of the first and of the last corner. An
/// index greater than 3 continues at the beginning of `ring`.
std::vector<std::pair<int, int>> PositiveRuns(unsigned positive, const Ring& ring);

/// The surface through a cell: polygons in cells with three axes, lines with two axes, a point with one axis.
/// The surface separates two positive corners on the diagonal of a face, in both cells at the face.
using CellCase = std::vector<CellPolygon>;

/// Returns the surfaces through cells with `axes` axes (0 to 3), by the bit set of the positive corners. The
/// normals of polygons point to the positive side. Thread-safe.
const std::vector<CellCase>& MarchingTables(int axes);

/// A connected part of a cell on the positive side, which a clip keeps. The triangles and quadrilaterals on a
/// face of the cell depend only on the kept corners of the face, so both cells at the face have the same
/// triangles and quadrilaterals.
struct KeptBody
{
  std::vector<int> Corners;  ///< numbers of the corners of the cell that belong to the body
  /// The faces of the body, whose normals point inwards; in a cell with two axes, the polygons that make up
  /// the body; in a cell with one axis, a line.
  std::vector<CellPolygon> Faces;
  /// The corners of the body in VTK's order if the body is a tetrahedron, wedge or hexahedron; otherwise
  /// empty.
  CellPolygon Simple;
};

/// Returns the bodies of clipped cells with `axes` axes (1 to 3), by the bit set of the kept corners; no body
/// if all corners are kept. Kept corners that only the diagonal of a face connects belong to different
/// bodies. Thread-safe.
const std::vector<std::vector<KeptBody>>& ClipTables(int axes);

}  // namespace patchio::filters
