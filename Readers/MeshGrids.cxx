#include "MeshGrids.h"

#include "DataArrays.h"
#include "Support/Error.h"

#include <vtkCellArray.h>
#include <vtkCellType.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace patchio {
namespace {

constexpr int Any = std::numeric_limits<int>::max();

/// Numbers of nodes that a cell may have.
struct NodeCount
{
  int Least = 0, Most = 0;
};

/// Of the types with straight edges and of those of second and third order; {0, -1}: not one of them.
NodeCount NodesOfType(int type)
{
  switch (type) {
    case VTK_EMPTY_CELL:
      return {0, 0};
    case VTK_VERTEX:
      return {1, 1};
    case VTK_POLY_VERTEX:
      return {1, Any};
    case VTK_LINE:
      return {2, 2};
    case VTK_POLY_LINE:
      return {1, Any};
    case VTK_TRIANGLE:
      return {3, 3};
    case VTK_TRIANGLE_STRIP:
    case VTK_POLYGON:
      return {3, Any};
    case VTK_PIXEL:
    case VTK_QUAD:
    case VTK_TETRA:
    case VTK_CUBIC_LINE:
      return {4, 4};
    case VTK_PYRAMID:
      return {5, 5};
    case VTK_WEDGE:
    case VTK_QUADRATIC_TRIANGLE:
    case VTK_QUADRATIC_LINEAR_QUAD:
      return {6, 6};
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
    case VTK_QUADRATIC_QUAD:
      return {8, 8};
    case VTK_PENTAGONAL_PRISM:
    case VTK_QUADRATIC_TETRA:
      return {10, 10};
    case VTK_HEXAGONAL_PRISM:
    case VTK_QUADRATIC_LINEAR_WEDGE:
      return {12, 12};
    case VTK_QUADRATIC_EDGE:
      return {3, 3};
    case VTK_BIQUADRATIC_TRIANGLE:
      return {7, 7};
    case VTK_BIQUADRATIC_QUAD:
      return {9, 9};
    case VTK_QUADRATIC_PYRAMID:
      return {13, 13};
    case VTK_QUADRATIC_WEDGE:
      return {15, 15};
    case VTK_BIQUADRATIC_QUADRATIC_WEDGE:
      return {18, 18};
    case VTK_TRIQUADRATIC_PYRAMID:
      return {19, 19};
    case VTK_QUADRATIC_HEXAHEDRON:
      return {20, 20};
    case VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON:
      return {24, 24};
    case VTK_TRIQUADRATIC_HEXAHEDRON:
      return {27, 27};
    default:
      return {0, -1};
  }
}

/// Nodes of a Lagrange or Bezier cell of this order along all axes; 0 for other types.
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

bool Suits(int type, std::int64_t nodes)
{
  constexpr std::int64_t highestOrder = 10;
  const NodeCount known = NodesOfType(type);
  bool suits = nodes >= known.Least && nodes <= known.Most;
  for (std::int64_t order = 1; order <= highestOrder && known.Most < known.Least; ++order) {
    suits = suits || nodes == NodesOfOrder(type, order);
  }
  return suits;
}

/// One patch, and what is said when it is no mesh.
class MeshMaker
{
public:
  MeshMaker(const Catalog& catalog, int patch, const MeshArrays& arrays)
      : Data(catalog), Patch(patch), Size(catalog.Meshes[patch]), Arrays(arrays)
  {
  }

  vtkSmartPointer<vtkDataSet> Unstructured() const;
  vtkSmartPointer<vtkDataSet> Polygonal() const;

private:
  vtkSmartPointer<vtkPoints> Points() const;
  vtkSmartPointer<vtkCellArray> Cells(int list) const;
  template <typename Number>
  void CheckCells(int list, vtkDataArray* offsetArray, vtkDataArray* nodeArray) const;
  vtkSmartPointer<vtkDataArray> Numbers(MeshRole role, int list) const;
  vtkSmartPointer<vtkUnsignedCharArray> Types() const;
  void CheckTypes(vtkUnsignedCharArray* types, vtkCellArray* cells) const;
  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->Data.Path,
        fmt::format("{} in partition {}", expected, this->Data.Patches[this->Patch].Number), found,
        "The file is damaged, or was not written for VTKHDF");
  }

  const Catalog& Data;
  const int Patch;
  const MeshSize& Size;
  const MeshArrays& Arrays;
};

vtkSmartPointer<vtkPoints> MeshMaker::Points() const
{
  auto points = vtkSmartPointer<vtkPoints>::New();
  if (this->Size.Points > 0) {
    points->SetData(this->Numbers(MeshRole::Points, 0));
  }
  return points;
}

vtkSmartPointer<vtkDataArray> MeshMaker::Numbers(MeshRole role, int list) const
{
  LoadedArray* const array = this->Arrays(role, list);
  const int variable = this->Data.FindMeshArray(role, list);
  const std::string name = variable < 0 ? "a list" : "'" + this->Data.Variables[variable].Name + "'";
  if (!array || array->Status != ArrayStatus::Read) {
    this->Fail(name, "none");
  }
  const ElementType type = array->Type;
  if (role != MeshRole::Points && (type == ElementType::Float32 || type == ElementType::Float64)) {
    this->Fail("whole numbers in " + name, NameOf(type));
  }
  return TakeOver(*array, name);
}

/// The same numbers as VTK's lists of cells have them: signed, of 4 or 8 bytes.
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

vtkSmartPointer<vtkCellArray> MeshMaker::Cells(int list) const
{
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  if (this->Size.Cells[list] == 0) {
    return cells;
  }
  vtkSmartPointer<vtkDataArray> offsets = this->Numbers(MeshRole::Offsets, list);
  vtkSmartPointer<vtkDataArray> nodes = vtkSmartPointer<vtkDataArray>::Take(offsets->NewInstance());
  if (this->Size.Connectivity[list] > 0) {
    nodes = this->Numbers(MeshRole::Connectivity, list);
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

/// Cells follow each other in the connectivity, and all nodes are there.
template <typename Number>
void MeshMaker::CheckCells(int list, vtkDataArray* offsetArray, vtkDataArray* nodeArray) const
{
  const auto* const offsets = static_cast<const Number*>(offsetArray->GetVoidPointer(0));
  const auto* const nodes = static_cast<const Number*>(nodeArray->GetVoidPointer(0));
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
      this->Fail(fmt::format("rising '{}'", name(MeshRole::Offsets)),
          fmt::format("{} after {}", offsets[i + 1], offsets[i]));
    }
  }
  for (std::int64_t i = 0; i < length; ++i) {
    if (nodes[i] < 0 || nodes[i] >= this->Size.Points) {
      this->Fail(fmt::format("'{}' of points 0 to {}", name(MeshRole::Connectivity), this->Size.Points - 1),
          fmt::format("{} at place {}", nodes[i], i));
    }
  }
}

vtkSmartPointer<vtkUnsignedCharArray> MeshMaker::Types() const
{
  const vtkSmartPointer<vtkDataArray> numbers = this->Numbers(MeshRole::Types, 0);
  if (auto* const types = vtkUnsignedCharArray::SafeDownCast(numbers)) {
    return types;
  }
  double range[2];
  numbers->GetRange(range);
  if (!(range[0] >= 0 && range[1] <= 255)) {
    this->Fail("types of cells from 0 to 255", fmt::format("{} to {}", range[0], range[1]));
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
    if (type == VTK_POLYHEDRON) {
      this->Fail("cells without faces of their own", fmt::format("a polyhedron, cell {}", cell));
    }
    if (!Suits(type, nodes)) {
      this->Fail("cells with as many nodes as their type has",
          fmt::format("type {} with {} nodes, cell {}", type, nodes, cell));
    }
  }
}

vtkSmartPointer<vtkDataSet> MeshMaker::Unstructured() const
{
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(this->Points());
  if (this->Size.Cells[0] > 0) {
    const vtkSmartPointer<vtkCellArray> cells = this->Cells(0);
    const vtkSmartPointer<vtkUnsignedCharArray> types = this->Types();
    this->CheckTypes(types, cells);
    grid->SetCells(types, cells);
  }
  return grid;
}

vtkSmartPointer<vtkDataSet> MeshMaker::Polygonal() const
{
  const auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(this->Points());
  struct List
  {
    int Type;
    void (vtkPolyData::*Set)(vtkCellArray* cells);
  };
  constexpr List lists[] = {{VTK_POLY_VERTEX, &vtkPolyData::SetVerts},
      {VTK_POLY_LINE, &vtkPolyData::SetLines}, {VTK_POLYGON, &vtkPolyData::SetPolys},
      {VTK_TRIANGLE_STRIP, &vtkPolyData::SetStrips}};
  for (int list = 0; list < MeshSize::MostLists; ++list) {
    const vtkSmartPointer<vtkCellArray> cells = this->Cells(list);
    for (vtkIdType cell = 0; cell < cells->GetNumberOfCells(); ++cell) {
      if (!Suits(lists[list].Type, cells->GetCellSize(cell))) {
        this->Fail(fmt::format("at least {} nodes of each cell", NodesOfType(lists[list].Type).Least),
            fmt::format("{}, cell {} of its list", cells->GetCellSize(cell), cell));
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
  return catalog.Grid == GridKind::Polygonal ? maker.Polygonal() : maker.Unstructured();
}

}  // namespace patchio
