// Lists of points as data sets of VTK: as points, or as an image in which most cells may have no value.
#ifndef PointGrids_h
#define PointGrids_h

#include "Catalog/Catalog.h"
#include "Session/LoadRequest.h"

#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <cstdint>
#include <string>
#include <vector>

class vtkDataSet;

namespace patchio {

/// The places of a block's points in the lattice of the catalog.
class PointPlaces
{
public:
  /// numbers: the values of a Variable::Positions, which count from 1. name: for messages. Throws Error when
  /// a point is not in the lattice.
  PointPlaces(const Catalog& catalog, const LoadedArray& numbers, const std::string& name);

  std::size_t Count() const { return this->Numbers.size(); }
  Int3 CellOf(std::size_t point) const;
  /// The smallest box of the lattice that holds all points.
  Box Bounds() const;

private:
  const Box Lattice;
  std::vector<std::int64_t> Numbers;  ///< from 0, axis 0 fastest
};

/// A vertex at the centre of each point's cell. `level` gives the spacing.
vtkSmartPointer<vtkDataSet> MakePointSet(const Catalog& catalog, int level, const PointPlaces& places);

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
LoadedArray Scatter(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint, vtkIdType cells,
    MemoryPool& memory);

}  // namespace patchio

#endif
