// What a surface leaves of a cell, for each choice of corners on the side that is kept.
#ifndef Extract_KeptCases_h
#define Extract_KeptCases_h

#include <vector>

namespace patchio::extract {

/// A corner of what is kept: a kept corner of the cell, or where the surface crosses the cell's edge from it
/// along an axis.
struct KeptCorner
{
  int Corner;
  int Axis = -1;  ///< -1: the corner itself
};

using KeptPolygon = std::vector<KeptCorner>;

/// A connected body. Faces of the cell are cut into triangles and quadrilaterals by what is on the face
/// alone, so that both cells beside it have the same.
struct KeptBody
{
  std::vector<int> Corners;  ///< the cell's corners that it has
  std::vector<KeptPolygon>
      Faces;  ///< their normals point inwards; a flat cell has polygons instead, and a line
  /// A tetrahedron, wedge or hexahedron that is the body, with corners as VTK has them; nothing for other
  /// bodies.
  KeptPolygon Simple;
};

/// For 1 to 3 axes; by the set of kept corners, numbered as CellShape does. Kept corners that only a face's
/// diagonal connects are kept apart.
const std::vector<std::vector<KeptBody>>& KeptCases(int axes);

}  // namespace patchio::extract

#endif
