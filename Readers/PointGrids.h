// Lists of points as data sets of VTK: as points, or as an image in which most cells may have no value.
#ifndef PointGrids_h
#define PointGrids_h

#include "Read/PointPlaces.h"

#include <vtkSmartPointer.h>
#include <vtkType.h>

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

}  // namespace patchio

#endif
