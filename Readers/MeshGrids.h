// Grids of VTK for meshes and for points.
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

/// A vertex at the place of each point. `level` gives the spacing.
vtkSmartPointer<vtkDataSet> MakePointSet(int level, const PointPlaces& places);

/// The part of the lattice that holds all points, as cells.
struct PointImage
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;
};

/// An image whose cells without a point are HIDDENCELL. Throws Error when it would take too much memory.
PointImage MakePointImage(const Catalog& catalog, int level, const PointPlaces& places);

/// An array of `cells` values with those of the points at their cells. The others are NaN, or 0 if the type
/// has no NaN. Throws Error when the memory does not suffice.
LoadedArray Scatter(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint, vtkDataSet* grid,
    MemoryPool& memory);

/// The array of that role and list of cells; null, or not Read, where the patch has none.
using MeshArrays = std::function<LoadedArray*(MeshRole role, int cellList)>;

/// The grid of a patch of a mesh. Takes the arrays' values over, without a copy where VTK has their type for
/// the purpose. Throws Error when they are no mesh: nodes that are not there, offsets that do not rise, cells
/// with a wrong number of nodes for their type.
vtkSmartPointer<vtkDataSet> MakeMesh(const Catalog& catalog, int patch, const MeshArrays& arrays);

}  // namespace patchio
