// The surfaces of the visible cells of blocks.
#ifndef Filters_VisibleSurface_h
#define Filters_VisibleSurface_h

#include "Base/Communicator.h"
#include "Filters/Blocks.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;

namespace patchio::filters {

/// A face of a visible cell behind which its own block has no visible cell.
struct OuterFace
{
  Int3 Cell;
  int Axis;
  bool Upper;  ///< true for the face at the upper end of the axis
};

/// Returns the blocks whose surfaces this file supports: uniform and rectilinear blocks of three dimensions.
std::vector<const Block*> SolidBlocks(const Blocks& blocks);

enum class Faces
{
  OfEachBlock,  ///< all outer faces of each block, also where blocks touch
  Outer         ///< only the faces behind which no block of any rank has a visible cell
};

/// Returns, for each of the blocks, quadrilaterals whose normals point outwards, with the data of their cells
/// and points and with their numbers in the block (vtkOriginalCellIds, vtkOriginalPointIds). Collective for
/// outer faces.
std::vector<vtkSmartPointer<vtkPolyData>> SurfacesOfBlocks(
    const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks);

/// Collective: returns the outer surface of all blocks, as one poly data for each piece of the input.
std::vector<vtkSmartPointer<vtkPolyData>> OuterSurface(const Blocks& blocks, Communicator& ranks);

}  // namespace patchio::filters

#endif
