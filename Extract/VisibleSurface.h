// The surface of the visible cells of a block.
#ifndef Extract_VisibleSurface_h
#define Extract_VisibleSurface_h

#include "Extract/Blocks.h"

#include <vtkSmartPointer.h>

#include <array>
#include <functional>

class vtkPolyData;

namespace patchio::extract {

/// A face of a visible cell, behind which its block has no visible one.
struct OuterFace
{
  Int3 Cell;
  int Axis;
  bool Upper;  ///< whether it is the face at the upper end of the axis
};

/// Whether a visible cell of another block lies behind all of a face. For any thread.
using FaceTest = std::function<bool(const OuterFace&)>;

/// Quadrilaterals whose normals point outwards, with the cell data of their cells, the point data, and the
/// numbers of both in the block (vtkOriginalCellIds, vtkOriginalPointIds). block: of three dimensions.
/// covered: faces to be left out; null: none.
vtkSmartPointer<vtkPolyData> VisibleSurface(const Block& block, const FaceTest& covered = nullptr);

}  // namespace patchio::extract

#endif
