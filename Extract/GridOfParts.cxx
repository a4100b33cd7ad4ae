#include "Extract/GridOfParts.h"

#include "Extract/Fields.h"
#include "Extract/OutputArrays.h"
#include "Extract/PartPoints.h"
#include "Extract/VtkVersions.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <tbb/parallel_for.h>

#include <algorithm>

namespace patchio::extract {
namespace {

int CornersOf(unsigned char type)
{
  switch (type) {
    case VTK_LINE:
      return 2;
    case VTK_TRIANGLE:
      return 3;
    case VTK_PYRAMID:
      return 5;
    case VTK_WEDGE:
      return 6;
    case VTK_HEXAHEDRON:
      return 8;
    default:
      return 4;
  }
}

/// VTK's type of a block's cells.
unsigned char WholeType(const SolidPart& part)
{
  constexpr unsigned char straight[] = {VTK_VERTEX, VTK_LINE, VTK_PIXEL, VTK_VOXEL};
  constexpr unsigned char curved[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  return (part.From->Form == BlockForm::Curvilinear ? curved : straight)[part.Shape.Axes];
}

/// Where the cells of a part begin in the output.
struct Place
{
  long long Cell = 0, Corner = 0;
};

class GridFiller
{
public:
  GridFiller(
      const std::vector<const Block*>& blocks, const Place& end, long long points, vtkUnstructuredGrid* grid)
      : CellArrays(blocks, false), PointArrays(blocks, true)
  {
    this->Positions->SetNumberOfComponents(3);
    SetTuples(points, this->Positions);
    SetTuples(end.Cell + 1, this->Offsets);
    this->Offsets->SetValue(end.Cell, end.Corner);
    SetTuples(end.Corner, this->Corners);
    SetTuples(end.Cell, this->Types);
    this->CellArrays.Allocate(end.Cell, points, grid->GetCellData());
    this->PointArrays.Allocate(points, points, grid->GetPointData());
    vtkNew<vtkPoints> places;
    places->SetDataTypeToDouble();
    places->SetData(this->Positions);
    grid->SetPoints(places);
  }

  void Fill(const SolidPart& part, const PartPoints::Ids& points, const Place& place)
  {
    CutPart from(*part.From, 0);
    this->FillPoints(part, points, from);
    this->PointArrays.TakePoints(from, {}, points.First);
    this->FillCells(part, points, place);
    for (const std::vector<int>* cells : {&part.Whole, &part.CellOfPiece}) {
      for (const int cell : *cells) {
        from.Cells.push_back(part.CellOfBlock(cell));
      }
    }
    this->CellArrays.TakeCells(from, place.Cell);
  }

  /// When all parts are filled.
  void GiveCells(vtkUnstructuredGrid* grid)
  {
    // With 64 bits also where fewer would do: VTK's filters may look at such cells with several threads only.
    vtkNew<vtkCellArray> cells;
    cells->SetData(this->Offsets, this->Corners);
    grid->SetCells(this->Types, cells);
  }

private:
  /// The points whose first occurrence is in this part.
  void FillPoints(const SolidPart& part, const PartPoints::Ids& points, CutPart& from)
  {
    double* to = this->Positions->GetPointer(3 * points.First);
    for (int p = 0; p < static_cast<int>(points.Of.size()); ++p) {
      if (points.Of[p] != points.First + static_cast<long long>(from.Points.size())) {
        continue;
      }
      const int made = p - part.PointCount();
      const long long here = made < 0 ? part.PointOfBlock(p) : 0;
      from.Points.push_back(made < 0 ? EdgePoint{here, here, 0.0} : part.Made[made].Place);
      const EdgePoint& place = from.Points.back();
      const Position a = this->PositionOf(*part.From, place.A);
      const Position b = place.T == 0 ? a : this->PositionOf(*part.From, place.B);
      for (int axis = 0; axis < 3; ++axis) {
        *to++ = a[axis] + place.T * (b[axis] - a[axis]);
      }
    }
  }

  static Position PositionOf(const Block& block, long long point)
  {
    const long long row = point / block.Points[0];
    return PositionAt(block, static_cast<int>(point % block.Points[0]),
        static_cast<int>(row % block.Points[1]), static_cast<int>(row / block.Points[1]));
  }

  void FillCells(const SolidPart& part, const PartPoints::Ids& points, const Place& place)
  {
    vtkTypeInt64* offset = this->Offsets->GetPointer(place.Cell);
    vtkTypeInt64* const first = this->Corners->GetPointer(0);
    vtkTypeInt64* corner = first + place.Corner;
    unsigned char* const types = this->Types->GetPointer(place.Cell);
    // Hexahedra and quadrilaterals turn around, voxels and pixels do not.
    const bool turns = part.From->Form == BlockForm::Curvilinear;
    for (const int cell : part.Whole) {
      *offset++ = corner - first;
      const int row = cell / part.Cells[0];
      const int origin = part.PointNumber({cell % part.Cells[0], row % part.Cells[1], row / part.Cells[1]});
      for (int c = 0; c < part.Shape.Count(); ++c) {
        *corner++ = points.Of[origin + part.StepTo(turns ? c ^ (c >> 1 & 1) : c)];
      }
    }
    std::fill_n(types, part.Whole.size(), WholeType(part));
    std::copy(part.Types.begin(), part.Types.end(), types + part.Whole.size());
    for (const unsigned char type : part.Types) {
      *offset++ = corner - first;
      corner += CornersOf(type);
    }
    vtkTypeInt64* piece = corner - part.Corners.size();
    for (const int point : part.Corners) {
      *piece++ = points.Of[point];
    }
  }

  vtkNew<vtkDoubleArray> Positions;
  vtkNew<vtkTypeInt64Array> Offsets, Corners;
  vtkNew<vtkUnsignedCharArray> Types;
  OutputArrays CellArrays, PointArrays;
};

vtkSmartPointer<vtkUnstructuredGrid> MakeGrid(
    const std::vector<const Block*>& blocks, const std::vector<const SolidPart*>& parts)
{
  const PartPoints points(parts);
  std::vector<Place> places(parts.size() + 1);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const SolidPart& part = *parts[p];
    const std::size_t whole = part.Whole.size();
    places[p + 1].Cell = places[p].Cell + static_cast<long long>(whole + part.Types.size());
    places[p + 1].Corner =
        places[p].Corner + static_cast<long long>(whole * part.Shape.Count() + part.Corners.size());
  }
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  GridFiller filler(blocks, places.back(), points.Count(), grid);
  tbb::parallel_for(
      std::size_t(0), parts.size(), [&](std::size_t p) { filler.Fill(*parts[p], points[p], places[p]); });
  filler.GiveCells(grid);
  return grid;
}

}  // namespace

std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<SolidPart>& parts, const GoesOn& goesOn)
{
  const std::size_t pieces = blocks.Pieces.size();
  std::vector<std::vector<const Block*>> blocksOf(pieces);
  for (const Block& block : blocks.List) {
    blocksOf[block.Piece].push_back(&block);
  }
  std::vector<std::vector<const SolidPart*>> partsOf(pieces);
  for (const SolidPart& part : parts) {
    partsOf[part.From->Piece].push_back(&part);
  }
  std::vector<vtkSmartPointer<vtkUnstructuredGrid>> grids;
  for (std::size_t p = 0; p < pieces; ++p) {
    const bool wanted = goesOn(static_cast<double>(p) / static_cast<double>(pieces));
    grids.push_back(MakeGrid(blocksOf[p], wanted ? partsOf[p] : std::vector<const SolidPart*>()));
  }
  return grids;
}

}  // namespace patchio::extract
