// The surfaces of the visible cells of blocks.
#ifndef Filters_VisibleSurface_h
#define Filters_VisibleSurface_h

#include "Base/Communicator.h"
#include "Filters/Blocks.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;

namespace patchio::filters {

/// A face of a visible cell of a block. The block has no visible cell on the other side of the face.
struct OuterFace
{
  Int3 Cell;
  int Axis;
  bool Upper;  ///< true: the face lies at the upper end of the cell along Axis
};

/// Returns the blocks whose surfaces this file supports: uniform and rectilinear blocks of three dimensions.
std::vector<const Block*> SolidBlocks(const Blocks& blocks);

/// The faces of a surface of blocks.
enum class Faces
{
  OfEachBlock,  ///< all outer faces of each block, including faces where blocks touch
  Outer         ///< only outer faces without a visible cell of any block of any rank on the other side
};

/// Returns a poly data for each block: the faces as quadrilaterals whose normals point outwards, with the
/// data of their cells and points, and with the numbers of their cells and points in the block
/// (vtkOriginalCellIds, vtkOriginalPointIds). `blocks`: see SolidBlocks(). Collective if `faces` is
/// Faces::Outer: every rank of the communicator calls it.
std::vector<vtkSmartPointer<vtkPolyData>> SurfacesOfBlocks(
    const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks);

/// Returns the outer surface (Faces::Outer) of SolidBlocks(), as a poly data for each of Blocks::ChildNames.
/// Collective: every rank of the communicator calls it.
std::vector<vtkSmartPointer<vtkPolyData>> OuterSurface(const Blocks& blocks, Communicator& ranks);

}  // namespace patchio::filters

#endif
