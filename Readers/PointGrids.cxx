#include "PointGrids.h"

#include "DataArrays.h"
#include "Support/Error.h"
#include "Support/Memory.h"

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
namespace {

template <typename T>
std::int64_t NumberAt(const LoadedArray& numbers, std::size_t i)
{
  return static_cast<std::int64_t>(static_cast<const T*>(numbers.Values.get())[i]);
}

std::int64_t NumberAt(const LoadedArray& numbers, std::size_t i)
{
  switch (numbers.Type) {
    case ElementType::Int64:
      return NumberAt<std::int64_t>(numbers, i);
    case ElementType::Int32:
      return NumberAt<std::int32_t>(numbers, i);
    default:
      return 0;  // not the number of a cell
  }
}

}  // namespace

PointPlaces::PointPlaces(const Catalog& catalog, const LoadedArray& numbers, const std::string& name)
    : Lattice(catalog.Lattice)
{
  const std::int64_t cells = this->Lattice.Cells();
  this->Numbers.reserve(static_cast<std::size_t>(numbers.Tuples));
  for (std::int64_t i = 0; i < numbers.Tuples; ++i) {
    const std::int64_t number = NumberAt(numbers, static_cast<std::size_t>(i));
    if (number < 1 || number > cells) {
      throw FileError(catalog.Path, "grid points 1 to " + std::to_string(cells) + " in the " + name,
          "point " + std::to_string(number), "The mask is damaged, or of another run");
    }
    this->Numbers.push_back(number - 1);
  }
}

Int3 PointPlaces::CellOf(std::size_t point) const
{
  const std::int64_t width = this->Lattice.Width(0), area = width * this->Lattice.Width(1);
  const std::int64_t number = this->Numbers[point];
  return {this->Lattice.Lower[0] + static_cast<int>(number % width),
      this->Lattice.Lower[1] + static_cast<int>(number % area / width),
      this->Lattice.Lower[2] + static_cast<int>(number / area)};
}

Box PointPlaces::Bounds() const
{
  Box bounds{this->Lattice.Upper, this->Lattice.Lower};
  for (std::size_t p = 0; p < this->Count(); ++p) {
    const Int3 cell = this->CellOf(p);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.Lower[axis] = std::min(bounds.Lower[axis], cell[axis]);
      bounds.Upper[axis] = std::max(bounds.Upper[axis], cell[axis]);
    }
  }
  return bounds;
}

vtkSmartPointer<vtkDataSet> MakePointSet(const Catalog& catalog, int level, const PointPlaces& places)
{
  const auto count = static_cast<vtkIdType>(places.Count());
  const Double3& spacing = catalog.Levels[level].Spacing;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(count);
  auto* xyz = static_cast<double*>(points->GetVoidPointer(0));
  for (vtkIdType p = 0; p < count; ++p) {
    const Int3 cell = places.CellOf(static_cast<std::size_t>(p));
    for (int axis = 0; axis < 3; ++axis) {
      const double centre = axis < catalog.Dimension ? cell[axis] + 0.5 : 0.0;
      xyz[3 * p + axis] = catalog.Origin[axis] + centre * spacing[axis];
    }
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
                std::to_string(cells) + " cells, too many for the memory. Show them as points.");
  }
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  flags->SetNumberOfTuples(static_cast<vtkIdType>(cells));
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

LoadedArray Scatter(
    const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint, vtkIdType cells, MemoryPool& memory)
{
  LoadedArray into = AllocateArray(memory, values.Type, values.Components, cells);
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
