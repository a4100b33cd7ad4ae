#include "BlockGrids.h"

#include "DataArrays.h"

#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkMath.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUniformGrid.h>

#include <cassert>
#include <cmath>
#include <vector>

namespace patchio {
namespace {

std::vector<double> PositionsOf(const Catalog& catalog, int axis, const int extent[6])
{
  const Axis& along = catalog.Axes[axis];
  std::vector<double> positions;
  for (int node = extent[2 * axis]; node <= extent[2 * axis + 1]; ++node) {
    // Behind the last column of a sphere comes the first one again, see CloseSeam().
    positions.push_back(along.Positions[(node - along.First) % along.Positions.size()]);
  }
  return positions;
}

vtkSmartPointer<vtkDataSet> MakeRectilinearGrid(const Catalog& catalog, const int extent[6])
{
  auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  const auto coordinates = [&](int axis) {
    auto array = vtkSmartPointer<vtkDoubleArray>::New();
    for (const double position : PositionsOf(catalog, axis, extent)) {
      array->InsertNextValue(position);
    }
    return array;
  };
  grid->SetXCoordinates(coordinates(0));
  grid->SetYCoordinates(coordinates(1));
  grid->SetZCoordinates(coordinates(2));
  return grid;
}

/// A degree of the equator has length 1, as it has on the plane, and heights are the same.
vtkSmartPointer<vtkDataSet> MakeSphericalGrid(const Catalog& catalog, const int extent[6])
{
  const double degree = vtkMath::RadiansFromDegrees(1.0);
  const std::vector<double> longitudes = PositionsOf(catalog, 0, extent);
  const std::vector<double> latitudes = PositionsOf(catalog, 1, extent);
  vtkNew<vtkFloatArray> positions;
  positions->SetNumberOfComponents(3);
  float* next = positions->WritePointer(
      0, 3 * static_cast<vtkIdType>(longitudes.size() * latitudes.size()) * (extent[5] - extent[4] + 1));
  for (const double height : PositionsOf(catalog, 2, extent)) {
    const double radius = 1 / degree + height;
    for (const double latitude : latitudes) {
      const double ring = radius * std::cos(latitude * degree);
      const double z = radius * std::sin(latitude * degree);
      for (const double longitude : longitudes) {
        *next++ = static_cast<float>(ring * std::cos(longitude * degree));
        *next++ = static_cast<float>(ring * std::sin(longitude * degree));
        *next++ = static_cast<float>(z);
      }
    }
  }
  vtkNew<vtkPoints> points;
  points->SetData(positions);
  auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  grid->SetPoints(points);
  return grid;
}

}  // namespace

vtkSmartPointer<vtkDataSet> MakeGrid(
    const Catalog& catalog, int level, const Box& cells, bool onSphere, LoadedArray* coordinates)
{
  int extent[6];
  for (int axis = 0; axis < 3; ++axis) {
    extent[2 * axis] = cells.Lower[axis];
    extent[2 * axis + 1] = cells.Upper[axis] + catalog.NodesBeyondCells(level, axis);
  }
  if (catalog.Grid == GridKind::Curvilinear) {
    assert(coordinates && coordinates->Status == ArrayStatus::Read);
    vtkNew<vtkPoints> points;
    points->SetData(TakeOver(*coordinates, "Coords"));
    auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
    grid->SetExtent(extent);
    grid->SetPoints(points);
    return grid;
  }
  if (catalog.Grid == GridKind::Rectilinear) {
    return onSphere && catalog.Geographic ? MakeSphericalGrid(catalog, extent)
                                          : MakeRectilinearGrid(catalog, extent);
  }
  // Extents in the level's index space with the level's origin: nodes that two blocks share get the same
  // coordinates to the last bit.
  auto grid = vtkSmartPointer<vtkUniformGrid>::New();
  grid->SetOrigin(catalog.Origin.data());
  grid->SetSpacing(catalog.Levels[level].Spacing.data());
  grid->SetExtent(extent);
  return grid;
}

}  // namespace patchio
