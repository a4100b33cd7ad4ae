#include "PointGrids.h"

#include "Base/Error.h"
#include "Base/Memory.h"
#include "DataArrays.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace patchio {

vtkSmartPointer<vtkDataSet> MakePointSet(int level, const PointPlaces& places)
{
  const auto count = static_cast<vtkIdType>(places.Count());
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(count);
  auto* xyz = static_cast<double*>(points->GetVoidPointer(0));
  for (vtkIdType p = 0; p < count; ++p) {
    const Double3 position = places.PositionOf(static_cast<std::size_t>(p), level);
    std::copy(position.begin(), position.end(), xyz + 3 * p);
  }
  vtkNew<vtkIdTypeArray> offsets, connectivity;
  offsets->SetNumberOfValues(count + 1);
  connectivity->SetNumberOfValues(count);
  for (vtkIdType p = 0; p < count; ++p) {
    offsets->SetValue(p, p);
    connectivity->SetValue(p, p);
  }
  offsets->SetValue(count, count);
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(offsets, connectivity);
  const auto set = vtkSmartPointer<vtkPolyData>::New();
  set->SetPoints(points);
  set->SetVerts(vertices);
  return set;
}

PointImage MakePointImage(const Catalog& catalog, int level, const PointPlaces& places)
{
  const Box bounds = places.Bounds();
  // A flag a cell here, and some arrays later.
  constexpr std::uint64_t bytesOfCell = 16;
  const auto cells = static_cast<std::uint64_t>(bounds.Cells());
  if (cells > AvailableMemory() / bytesOfCell) {
    throw Error(catalog.Path + ": an image around the points of '" + catalog.NameOfLevel(level) + "' has " +
                std::to_string(cells) + " cells, which exceed the memory. Set Point Lists to Points.");
  }
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  SetTuplesOfCells(flags, bounds.Cells(), Grown(bounds, {1, 1, 1}).Cells());
  flags->FillValue(vtkDataSetAttributes::HIDDENCELL);
  PointImage image;
  image.CellOfPoint.reserve(places.Count());
  for (std::size_t p = 0; p < places.Count(); ++p) {
    const auto cell = static_cast<vtkIdType>(IndexIn(bounds, places.CellOf(p)));
    image.CellOfPoint.push_back(cell);
    flags->SetValue(cell, 0);
  }
  int extent[6] = {0, 0, 0, 0, 0, 0};
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    extent[2 * axis] = bounds.Lower[axis];
    extent[2 * axis + 1] = bounds.Upper[axis] + 1;
  }
  const auto grid = vtkSmartPointer<vtkUniformGrid>::New();
  grid->SetOrigin(catalog.Origin.data());
  grid->SetSpacing(catalog.Levels[level].Spacing.data());
  grid->SetExtent(extent);
  if (cells > places.Count()) {
    grid->GetCellData()->AddArray(flags);
  }
  image.Grid = grid;
  return image;
}

LoadedArray Scatter(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint, vtkDataSet* grid,
    MemoryPool& memory)
{
  LoadedArray into = AllocateArray(
      memory, values.Type, values.Components, grid->GetNumberOfCells(), grid->GetNumberOfPoints());
  FillWith(into, std::nullopt);
  const std::size_t tupleBytes = static_cast<std::size_t>(values.Components) * SizeOf(values.Type);
  const auto* from = static_cast<const std::byte*>(values.Values.get());
  auto* to = static_cast<std::byte*>(into.Values.get());
  for (std::size_t p = 0; p < cellOfPoint.size(); ++p) {
    std::memcpy(
        to + static_cast<std::size_t>(cellOfPoint[p]) * tupleBytes, from + p * tupleBytes, tupleBytes);
  }
  into.Range = values.Range;
  into.HasUndefined = values.HasUndefined;
  return into;
}

}  // namespace patchio
