#include "MeshGrids.h"

#include "Base/Error.h"
#include "Base/Memory.h"
#include "DataArrays.h"
#include "Filters/VtkVersions.h"

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

namespace patchio {

vtkSmartPointer<vtkDataSet> MakePointSet(int level, const PointCells& pointCells)
{
  const auto count = static_cast<vtkIdType>(pointCells.Count());
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(count);
  auto* xyz = static_cast<double*>(points->GetVoidPointer(0));
  for (vtkIdType p = 0; p < count; ++p) {
    const Double3 position = pointCells.PositionOf(static_cast<std::size_t>(p), level);
    std::copy(position.begin(), position.end(), xyz + 3 * p);
  }
  vtkNew<vtkIdTypeArray> offsets, connectivity;
  offsets->SetNumberOfValues(count + 1);
  connectivity->SetNumberOfValues(count);
  std::iota(offsets->GetPointer(0), offsets->GetPointer(0) + count + 1, vtkIdType(0));
  std::iota(connectivity->GetPointer(0), connectivity->GetPointer(0) + count, vtkIdType(0));
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(offsets, connectivity);
  const auto set = vtkSmartPointer<vtkPolyData>::New();
  set->SetPoints(points);
  set->SetVerts(vertices);
  return set;
}

PointImage MakePointImage(const Catalog& catalog, int level, const PointCells& pointCells)
{
  const Box bounds = pointCells.Bounds();
  // One byte is for the flag of the cell, and the other bytes are for arrays that are added later.
  constexpr std::uint64_t bytesOfCell = 16;
  const auto cells = static_cast<std::uint64_t>(bounds.CellCount());
  if (cells > AvailableMemory() / bytesOfCell) {
    throw Error(catalog.Path + ": an image around the points of '" + catalog.NameOfLevel(level) + "' has " +
                std::to_string(cells) +
                " cells, which need more than the free memory. Set Point Lists to Points.");
  }
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  SetTuples(bounds.CellCount(), flags, Grow(bounds, {1, 1, 1}).CellCount());
  flags->FillValue(vtkDataSetAttributes::HIDDENCELL);
  PointImage image;
  image.CellOfPoint.reserve(pointCells.Count());
  for (std::size_t p = 0; p < pointCells.Count(); ++p) {
    const auto cell = static_cast<vtkIdType>(IndexIn(bounds, pointCells.CellOf(p)));
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
  if (cells > pointCells.Count()) {
    grid->GetCellData()->AddArray(flags);
  }
  image.Grid = grid;
  return image;
}

LoadedArray ScatterToCells(const LoadedArray& values, const std::vector<vtkIdType>& cellOfPoint,
    vtkDataSet* grid, MemoryPool& memory)
{
  LoadedArray scattered = AllocateArray(
      memory, values.Type, values.Components, grid->GetNumberOfCells(), grid->GetNumberOfPoints());
  FillArray(scattered, std::nullopt);
  const std::size_t tupleBytes = static_cast<std::size_t>(values.Components) * SizeOf(values.Type);
  const auto* from = static_cast<const std::byte*>(values.Values.get());
  auto* to = static_cast<std::byte*>(scattered.Values.get());
  for (std::size_t p = 0; p < cellOfPoint.size(); ++p) {
    std::memcpy(
        to + static_cast<std::size_t>(cellOfPoint[p]) * tupleBytes, from + p * tupleBytes, tupleBytes);
  }
  scattered.Range = values.Range;
  scattered.HasUndefined = values.HasUndefined;
  return scattered;
}

namespace {

/// The least and the greatest number of nodes of a cell type.
struct NodeLimits
{
  int Type, Least, Most;
};

constexpr int Unlimited = std::numeric_limits<int>::max();

/// The limits of the supported cell types with straight edges, and of second and third order.
/// VTK_EMPTY_CELL may have any number of nodes, because ParaView's Merge Blocks turns hidden cells into empty
/// cells that keep their nodes.
constexpr NodeLimits KnownNodeLimits[] = {{VTK_EMPTY_CELL, 0, Unlimited}, {VTK_VERTEX, 1, 1},
    {VTK_POLY_VERTEX, 1, Unlimited}, {VTK_LINE, 2, 2}, {VTK_POLY_LINE, 1, Unlimited}, {VTK_TRIANGLE, 3, 3},
    {VTK_TRIANGLE_STRIP, 3, Unlimited}, {VTK_POLYGON, 3, Unlimited}, {VTK_PIXEL, 4, 4}, {VTK_QUAD, 4, 4},
    {VTK_TETRA, 4, 4}, {VTK_VOXEL, 8, 8}, {VTK_HEXAHEDRON, 8, 8}, {VTK_WEDGE, 6, 6}, {VTK_PYRAMID, 5, 5},
    {VTK_PENTAGONAL_PRISM, 10, 10}, {VTK_HEXAGONAL_PRISM, 12, 12}, {VTK_QUADRATIC_EDGE, 3, 3},
    {VTK_QUADRATIC_TRIANGLE, 6, 6}, {VTK_QUADRATIC_QUAD, 8, 8}, {VTK_QUADRATIC_TETRA, 10, 10},
    {VTK_QUADRATIC_HEXAHEDRON, 20, 20}, {VTK_QUADRATIC_WEDGE, 15, 15}, {VTK_QUADRATIC_PYRAMID, 13, 13},
    {VTK_BIQUADRATIC_QUAD, 9, 9}, {VTK_TRIQUADRATIC_HEXAHEDRON, 27, 27}, {VTK_TRIQUADRATIC_PYRAMID, 19, 19},
    {VTK_QUADRATIC_LINEAR_QUAD, 6, 6}, {VTK_QUADRATIC_LINEAR_WEDGE, 12, 12},
    {VTK_BIQUADRATIC_QUADRATIC_WEDGE, 18, 18}, {VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON, 24, 24},
    {VTK_BIQUADRATIC_TRIANGLE, 7, 7}, {VTK_CUBIC_LINE, 4, 4}};

/// Returns the number of nodes of a Lagrange or Bezier cell with the order `order` along all axes; 0 for
/// other types.
std::int64_t NodesOfOrder(int type, std::int64_t order)
{
  const std::int64_t n = order + 1;
  switch (type) {
    case VTK_LAGRANGE_CURVE:
    case VTK_BEZIER_CURVE:
      return n;
    case VTK_LAGRANGE_TRIANGLE:
    case VTK_BEZIER_TRIANGLE:
      return n * (n + 1) / 2;
    case VTK_LAGRANGE_QUADRILATERAL:
    case VTK_BEZIER_QUADRILATERAL:
      return n * n;
    case VTK_LAGRANGE_TETRAHEDRON:
    case VTK_BEZIER_TETRAHEDRON:
      return n * (n + 1) * (n + 2) / 6;
    case VTK_LAGRANGE_HEXAHEDRON:
    case VTK_BEZIER_HEXAHEDRON:
      return n * n * n;
    case VTK_LAGRANGE_WEDGE:
    case VTK_BEZIER_WEDGE:
      return n * n * (n + 1) / 2;
    default:
      return 0;
  }
}

/// Returns whether a cell of the type `type` may have `nodes` nodes; false if PatchIO does not support the
/// type. VTK's filters do not check the number of nodes, and would read beyond the list of nodes.
bool HasValidNodeCount(int type, std::int64_t nodes)
{
  constexpr std::int64_t highestOrder = 10;
  for (const NodeLimits& limits : KnownNodeLimits) {
    if (limits.Type == type) {
      return nodes >= limits.Least && nodes <= limits.Most;
    }
  }
  for (std::int64_t order = 1; order <= highestOrder; ++order) {
    if (nodes > 0 && nodes == NodesOfOrder(type, order)) {
      return true;
    }
  }
  return false;
}

/// Returns whether KnownNodeLimits has the type.
bool HasKnownNodeLimits(int type)
{
  return std::any_of(std::begin(KnownNodeLimits), std::end(KnownNodeLimits),
      [type](const NodeLimits& limits) { return limits.Type == type; });
}

/// Makes the mesh of one patch. Throws Error with the reason if the patch's arrays are not a mesh.
class MeshMaker
{
public:
  MeshMaker(const Catalog& catalog, int patch, const MeshArrays& arrays)
      : Data(catalog), Patch(patch), Size(catalog.Meshes[patch]), Arrays(arrays)
  {
  }

  vtkSmartPointer<vtkDataSet> MakeUnstructured() const;
  vtkSmartPointer<vtkDataSet> MakePolygonal() const;

private:
  /// Returns the points (MakePoints()) or a list of cells (MakeCells()) of the grid. `list`: index of the
  /// list.
  vtkSmartPointer<vtkPoints> MakePoints() const;
  vtkSmartPointer<vtkCellArray> MakeCells(int list) const;
  template <typename Integer>
  void CheckCells(int list, vtkDataArray* offsetArray, vtkDataArray* nodeArray) const;
  /// Moves the array with this role to an array of VTK. Throws Error if the patch has no such array, or if
  /// connectivity, offsets or types are not integers.
  vtkSmartPointer<vtkDataArray> MoveArray(MeshRole role, int list) const;
  vtkSmartPointer<vtkUnsignedCharArray> MakeTypes() const;
  void CheckTypes(vtkUnsignedCharArray* types, vtkCellArray* cells) const;
  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->Data.Path,
        fmt::format("{} in partition {}", expected, this->Data.Patches[this->Patch].Number), found,
        "The file is damaged, or is not a valid VTKHDF file");
  }

  const Catalog& Data;
  const int Patch;
  const MeshSize& Size;
  const MeshArrays& Arrays;
};

vtkSmartPointer<vtkPoints> MeshMaker::MakePoints() const
{
  auto points = vtkSmartPointer<vtkPoints>::New();
  if (this->Size.Points > 0) {
    points->SetData(this->MoveArray(MeshRole::Points, 0));
  }
  return points;
}

vtkSmartPointer<vtkDataArray> MeshMaker::MoveArray(MeshRole role, int list) const
{
  LoadedArray* const array = this->Arrays(role, list);
  const int variable = this->Data.FindMeshArray(role, list);
  const std::string name = variable < 0 ? "a list" : "'" + this->Data.Variables[variable].Name + "'";
  if (!array || array->Status != ArrayStatus::Read) {
    this->Fail(name, "no values");
  }
  const ElementType type = array->Type;
  if (role != MeshRole::Points && (type == ElementType::Float32 || type == ElementType::Float64)) {
    this->Fail("whole numbers in " + name, NameOf(type));
  }
  return MoveToVtkArray(*array, name);
}

/// Returns the numbers in the type of VTK's lists of cells: signed, with 4 bytes or, if `wide` is true, with
/// 8 bytes.
vtkSmartPointer<vtkDataArray> AsSigned(const vtkSmartPointer<vtkDataArray>& numbers, bool wide)
{
  const int type = numbers->GetDataType();
  if (type == VTK_TYPE_INT64 || (type == VTK_INT && !wide)) {
    return numbers;
  }
  auto copy = vtkSmartPointer<vtkTypeInt64Array>::New();
  copy->DeepCopy(numbers);  // numbers that are too large become negative
  return copy;
}

vtkSmartPointer<vtkCellArray> MeshMaker::MakeCells(int list) const
{
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  if (this->Size.Cells[list] == 0) {
    return cells;
  }
  vtkSmartPointer<vtkDataArray> offsets = this->MoveArray(MeshRole::Offsets, list);
  vtkSmartPointer<vtkDataArray> nodes = vtkSmartPointer<vtkDataArray>::Take(offsets->NewInstance());
  if (this->Size.Connectivity[list] > 0) {
    nodes = this->MoveArray(MeshRole::Connectivity, list);
  }
  const bool wide = offsets->GetDataType() != VTK_INT || nodes->GetDataType() != VTK_INT;
  offsets = AsSigned(offsets, wide);
  nodes = AsSigned(nodes, wide);
  if (wide) {
    this->CheckCells<std::int64_t>(list, offsets, nodes);
  } else {
    this->CheckCells<int>(list, offsets, nodes);
  }
  cells->SetData(offsets, nodes);
  return cells;
}

/// Throws Error if the cells of a list do not follow each other in the connectivity, or if a node does not
/// exist.
template <typename Integer>
void MeshMaker::CheckCells(int list, vtkDataArray* offsetArray, vtkDataArray* nodeArray) const
{
  const auto* const offsets = static_cast<const Integer*>(offsetArray->GetVoidPointer(0));
  const auto* const nodes = static_cast<const Integer*>(nodeArray->GetVoidPointer(0));
  const std::int64_t cells = this->Size.Cells[list], length = this->Size.Connectivity[list];
  const auto name = [&](MeshRole role) {
    return this->Data.Variables[this->Data.FindMeshArray(role, list)].Name;
  };
  if (offsets[0] != 0 || offsets[cells] != length) {
    this->Fail(fmt::format("'{}' from 0 to {}", name(MeshRole::Offsets), length),
        fmt::format("{} to {}", offsets[0], offsets[cells]));
  }
  for (std::int64_t i = 0; i < cells; ++i) {
    if (offsets[i + 1] < offsets[i]) {
      this->Fail(fmt::format("'{}' that do not decrease", name(MeshRole::Offsets)),
          fmt::format("{} after {}", offsets[i + 1], offsets[i]));
    }
  }
  for (std::int64_t i = 0; i < length; ++i) {
    if (nodes[i] < 0 || nodes[i] >= this->Size.Points) {
      this->Fail(fmt::format("'{}' of points 0 to {}", name(MeshRole::Connectivity), this->Size.Points - 1),
          fmt::format("{} at index {}", nodes[i], i));
    }
  }
}

vtkSmartPointer<vtkUnsignedCharArray> MeshMaker::MakeTypes() const
{
  const vtkSmartPointer<vtkDataArray> numbers = this->MoveArray(MeshRole::Types, 0);
  if (auto* const types = vtkUnsignedCharArray::SafeDownCast(numbers)) {
    return types;
  }
  double range[2];
  numbers->GetRange(range);
  if (!(range[0] >= 0 && range[1] <= 255)) {
    this->Fail("cell types from 0 to 255", fmt::format("{} to {}", range[0], range[1]));
  }
  auto types = vtkSmartPointer<vtkUnsignedCharArray>::New();
  types->DeepCopy(numbers);
  return types;
}

void MeshMaker::CheckTypes(vtkUnsignedCharArray* types, vtkCellArray* cells) const
{
  for (vtkIdType cell = 0; cell < cells->GetNumberOfCells(); ++cell) {
    const int type = types->GetValue(cell);
    const vtkIdType nodes = cells->GetCellSize(cell);
    if (HasValidNodeCount(type, nodes)) {
      continue;
    }
    // A valid file may have these cells: polyhedra, types of newer versions of VTK, or orders that differ
    // between the axes.
    if (!HasKnownNodeLimits(type)) {
      throw Error(
          fmt::format("{}: not supported: cells of type {} with {} nodes in partition {} (cell {}). Open "
                      "the file with ParaView's own reader.",
              this->Data.Path, type, nodes, this->Data.Patches[this->Patch].Number, cell));
    }
    this->Fail(fmt::format("a valid number of nodes for cell type {}", type),
        fmt::format("{} nodes of cell {}", nodes, cell));
  }
}

vtkSmartPointer<vtkDataSet> MeshMaker::MakeUnstructured() const
{
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(this->MakePoints());
  if (this->Size.Cells[0] > 0) {
    const vtkSmartPointer<vtkCellArray> cells = this->MakeCells(0);
    const vtkSmartPointer<vtkUnsignedCharArray> types = this->MakeTypes();
    this->CheckTypes(types, cells);
    grid->SetCells(types, cells);
  }
  return grid;
}

vtkSmartPointer<vtkDataSet> MeshMaker::MakePolygonal() const
{
  const auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(this->MakePoints());
  struct CellList
  {
    const char* Name;
    int Type;
    void (vtkPolyData::*Set)(vtkCellArray* cells);
  };
  constexpr CellList lists[] = {{"Vertices", VTK_POLY_VERTEX, &vtkPolyData::SetVerts},
      {"Lines", VTK_POLY_LINE, &vtkPolyData::SetLines}, {"Polygons", VTK_POLYGON, &vtkPolyData::SetPolys},
      {"Strips", VTK_TRIANGLE_STRIP, &vtkPolyData::SetStrips}};
  for (int list = 0; list < MeshSize::MostLists; ++list) {
    const vtkSmartPointer<vtkCellArray> cells = this->MakeCells(list);
    for (vtkIdType cell = 0; cell < cells->GetNumberOfCells(); ++cell) {
      if (!HasValidNodeCount(lists[list].Type, cells->GetCellSize(cell))) {
        this->Fail(fmt::format("a valid number of nodes for each cell of '{}'", lists[list].Name),
            fmt::format("{} nodes of cell {}", cells->GetCellSize(cell), cell));
      }
    }
    (data->*lists[list].Set)(cells);
  }
  return data;
}

}  // namespace

vtkSmartPointer<vtkDataSet> MakeMesh(const Catalog& catalog, int patch, const MeshArrays& arrays)
{
  const MeshMaker maker(catalog, patch, arrays);
  return catalog.Grid == GridType::Polygonal ? maker.MakePolygonal() : maker.MakeUnstructured();
}

}  // namespace patchio
