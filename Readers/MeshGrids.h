// VTK's grids for meshes and for lists of points.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"
#include "Read/PointPlaces.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <functional>
#include <vector>

class vtkDataSet;

namespace patchio {

/// Returns poly data with a vertex at each point. level: the level of the points, which has their spacing.
vtkSmartPointer<vtkDataSet> MakePointSet(int level, const PointPlaces& places);

/// An image of the part of the lattice that holds all points, with one cell for each lattice point.
struct PointImage
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;
};

/// Returns an image in which cells without a point are marked HIDDENCELL. Throws Error if the image would
/// take too much memory.
PointImage MakePointImage(const Catalog& catalog, int level, const PointPlaces& places);

/// Returns an array over the grid's cells that has the value of each point at the point's cell. The other
/// values are NaN, or 0 if the type has no NaN. Throws Error if the memory does not suffice.
LoadedArray Scatter(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint, vtkDataSet* grid,
    MemoryPool& memory);

/// A function that returns the array with this role and list of cells. If the patch has no such array, the
/// result is null or an array whose Status is not Read.
using MeshArrays = std::function<LoadedArray*(MeshRole role, int cellList)>;

/// Returns the grid of a mesh's patch. Takes over the arrays' memory, without a copy if VTK stores such
/// arrays in the same type. Throws Error if the arrays are not a mesh: nodes that do not exist, offsets that
/// decrease, cells with a wrong number of nodes for their type.
vtkSmartPointer<vtkDataSet> MakeMesh(const Catalog& catalog, int patch, const MeshArrays& arrays);

}  // namespace patchio
