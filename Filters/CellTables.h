// Tables for a block's cells: the corners of a cell, a surface between the corners, and the rest of a cut
// cell.
#pragma once

#include "Filters/Blocks.h"

#include <array>
#include <utility>
#include <vector>

namespace patchio::filters {

/// The corners of a cell as steps from its first point, along the axes that have more than one point. Bit t
/// of a corner's number says whether the corner lies at the upper end of the t-th of these axes.
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
  Int3 AxisOf{0, 1, 2};  ///< the grid's axis for each axis of the cell
  std::array<Int3, 8> Corners{};
};

/// A point of a cell that a surface cuts: a positive corner, or the crossing of the surface with an edge,
/// which is given by its positive corner and its axis. Bit t of a corner says whether the corner lies at the
/// upper end of axis t.
struct CellPoint
{
  int Corner;
  int Axis = -1;  ///< axis of the edge; -1 if the point is the corner itself

  /// The ends of the edge.
  int Lower() const { return this->Corner & ~(1 << this->Axis); }
  int Upper() const { return this->Corner | 1 << this->Axis; }
};

using CellPolygon = std::vector<CellPoint>;

/// The corners of a face, in the order around the face.
using Ring = std::array<int, 4>;

/// Returns the runs of positive corners around a face that also has other corners. A run is a pair of indices
/// in `ring`, of the first and of the last corner. The second index is greater than 3 if the run passes the
/// end of `ring`.
std::vector<std::pair<int, int>> PositiveRuns(unsigned positive, const Ring& ring);

/// The surface through a cell: polygons for three axes, lines for two, a point for one. The surface separates
/// two positive corners on a face's diagonal, in both cells at the face.
using CellCase = std::vector<CellPolygon>;

/// Returns the cases of cells with `axes` axes (0 to 3), indexed by the bit set of positive corners. The
/// normals of polygons point to the positive side. Thread-safe.
const std::vector<CellCase>& MarchingTables(int axes);

/// A connected part of a cell on the positive side, which is kept. The triangles and quadrilaterals on a face
/// of the cell depend only on the kept corners of that face, so they are the same in both cells at the face.
struct KeptBody
{
  std::vector<int> Corners;  ///< the cell's corners that belong to the body
  /// Faces whose normals point inwards. In a cell with two axes: polygons. In a cell with one axis: a line.
  std::vector<CellPolygon> Faces;
  /// The body's corners in VTK's order if it is a tetrahedron, wedge or hexahedron; empty for other bodies.
  CellPolygon Simple;
};

/// Returns the bodies of cells with `axes` axes (1 to 3), indexed by the bit set of kept corners. Kept
/// corners that only a face's diagonal connects belong to different bodies. Thread-safe.
const std::vector<std::vector<KeptBody>>& ClipTables(int axes);

}  // namespace patchio::filters
