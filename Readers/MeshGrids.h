// Makes VTK's grids of meshes and of lists of points.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"
#include "Read/PointCells.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <functional>
#include <vector>

namespace patchio {

/// Returns poly data with a vertex at each point. `level`: level of the points. The spacing of this level is
/// the spacing of the lattice.
vtkSmartPointer<vtkDataSet> MakePointSet(int level, const PointCells& pointCells);

/// An image around all points of a list, with one cell for each cell of the lattice in the box of the points.
struct PointImage
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;  ///< by point of the list: number of the cell
};

/// Returns an image in which cells without a point are HIDDENCELL. Throws Error if the image would need too
/// much memory.
PointImage MakePointImage(const Catalog& catalog, int level, const PointCells& pointCells);

/// Returns an array over the cells of `grid` with the value of each point in the cell of the point. The other
/// values are NaN, or 0 if the type is an integer. Throws Error if the memory does not suffice.
LoadedArray ScatterToCells(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint,
    vtkDataSet* grid, MemoryPool& memory);

/// A function that returns the array of a patch with the role `role`, for the list of cells with the index
/// `cellList` (0 for points and types). If the patch has no such array, the result is null or an array whose
/// Status is not Read.
using MeshArrays = std::function<LoadedArray*(MeshRole role, int cellList)>;

/// Returns the grid of a patch of a mesh. Moves the memory of the arrays to the grid, without a copy if VTK
/// stores the arrays in the same type. Throws Error if the arrays are not a valid mesh, for example if a node
/// does not exist, if offsets decrease, or if a cell has a wrong number of nodes for its type; also if
/// PatchIO does not support the type of a cell.
vtkSmartPointer<vtkDataSet> MakeMesh(const Catalog& catalog, int patch, const MeshArrays& arrays);

}  // namespace patchio
