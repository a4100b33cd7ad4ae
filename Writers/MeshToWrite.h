// Unstructured grids and polygons as a container takes them.
#ifndef MeshToWrite_h
#define MeshToWrite_h

#include "InputTree.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>

namespace patchio {

/// Sets the kind of grid, its sizes and the arrays that it consists of; false where the grid is none of
/// these. Throws Error for cells that a container cannot hold.
bool TakeMesh(vtkDataSet* grid, PieceForm& form);

/// An array that the grid consists of, or its flags; null where it has none.
vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayForm& form);

}  // namespace patchio

#endif
