// The surfaces of visible cells.
#ifndef Filters_VisibleSurface_h
#define Filters_VisibleSurface_h

#include "Base/Communicator.h"
#include "Filters/Blocks.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;

namespace patchio::filters {

/// A face of a visible cell, behind which its block has no visible one.
struct OuterFace
{
  Int3 Cell;
  int Axis;
  bool Upper;  ///< whether it is the face at the upper end of the axis
};

/// The blocks that VisibleSurface takes: uniform and rectilinear ones of three dimensions.
std::vector<const Block*> SolidBlocks(const Blocks& blocks);

enum class Faces
{
  OfEachBlock,  ///< as if there was only this block
  Outer         ///< only those behind which no other block has a visible cell, on any rank
};

/// For each of the blocks quadrilaterals whose normals point outwards, with the data of their cells and
/// points and with the numbers of these in the block (vtkOriginalCellIds, vtkOriginalPointIds). Collective
/// for outer faces.
std::vector<vtkSmartPointer<vtkPolyData>> SurfacesOfBlocks(
    const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks);

/// The outer surface of all blocks, in the pieces of the input. Collective.
std::vector<vtkSmartPointer<vtkPolyData>> OuterSurface(const Blocks& blocks, Communicator& ranks);

}  // namespace patchio::filters

#endif
