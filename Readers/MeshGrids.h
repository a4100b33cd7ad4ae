// Unstructured grids and polygonal data, from the lists of points and cells that were read.
#ifndef MeshGrids_h
#define MeshGrids_h

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <functional>

namespace patchio {

/// The array of that role and list of cells; null, or not Read, where the patch has none.
using MeshArrays = std::function<LoadedArray*(MeshRole role, int cellList)>;

/// The grid of a patch of a mesh. Takes the arrays' values over, without a copy where VTK has their type for
/// the purpose. Throws Error when they are no mesh: nodes that are not there, offsets that do not rise, cells
/// with a wrong number of nodes for their type.
vtkSmartPointer<vtkDataSet> MakeMesh(const Catalog& catalog, int patch, const MeshArrays& arrays);

}  // namespace patchio

#endif
