// Unstructured grids and polygons in the form that a container takes.
#ifndef MeshToWrite_h
#define MeshToWrite_h

#include "InputTree.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>

namespace patchio {

/// Sets in `form` the kind of the grid, its sizes and the arrays that make it up. Returns false if the grid
/// is neither unstructured nor polygons. Throws Error for cells that a container cannot hold.
bool TakeMesh(vtkDataSet* grid, PieceForm& form);

/// Returns one of the arrays that make up the grid, or its flags; null if the grid has none.
vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayForm& form);

}  // namespace patchio

#endif
