#include "ArraysToWrite.h"

#include "Base/Error.h"
#include "Filters/Blocks.h"
#include "Filters/VtkVersions.h"

#include <vtkCellArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <fmt/format.h>

#include <algorithm>

namespace patchio {
namespace {

/// Returns a list of cells of a mesh. Unstructured grids have only the list 0.
vtkCellArray* ListOf(vtkDataSet* grid, int list)
{
  if (auto* unstructured = vtkUnstructuredGrid::SafeDownCast(grid)) {
    return unstructured->GetCells();
  }
  auto* const polygons = vtkPolyData::SafeDownCast(grid);
  vtkCellArray* const lists[] = {
      polygons->GetVerts(), polygons->GetLines(), polygons->GetPolys(), polygons->GetStrips()};
  return lists[list];
}

/// Adds the description of a mesh array to a piece, with the components and the type of the array. Does
/// nothing if the grid has no such array or the array is empty.
void AddMeshArray(vtkDataSet* grid, ArrayDescription description, GridPiece& piece)
{
  vtkDataArray* const array = MeshArrayOf(grid, description);
  if (array && array->GetNumberOfTuples() > 0) {
    description.Components = array->GetNumberOfComponents();
    description.Type = TypeToWrite(array);
    piece.Arrays.push_back(description);
  }
}

ArrayDescription DescribeMeshArray(const std::string& name, Centering center, MeshRole role, int list = 0)
{
  ArrayDescription description;
  description.Name = name;
  description.Center = center;
  description.Role = role;
  description.CellList = list;
  return description;
}

}  // namespace

bool DescribeMesh(vtkDataSet* grid, GridPiece& piece)
{
  auto* const unstructured = vtkUnstructuredGrid::SafeDownCast(grid);
  if (!unstructured && !vtkPolyData::SafeDownCast(grid)) {
    return false;
  }
  if (unstructured && HasPolyhedra(unstructured)) {
    throw Error(
        "The data have polyhedra, which PatchIO containers do not support. Apply Tetrahedralize first.");
  }
  piece.Type = unstructured ? GridType::Unstructured : GridType::Polygonal;
  piece.Mesh.Points = grid->GetNumberOfPoints();
  piece.Cells.Lower = piece.Cells.Upper = {0, 0, 0};
  piece.Cells.Upper[0] = static_cast<int>(std::max<vtkIdType>(grid->GetNumberOfCells(), 1)) - 1;
  piece.Whole = piece.Cells;
  AddMeshArray(grid, DescribeMeshArray("Points", Centering::Node, MeshRole::Points), piece);
  for (int list = 0; list < (unstructured ? 1 : MeshSize::MostLists); ++list) {
    vtkCellArray* const cells = ListOf(grid, list);
    if (cells && cells->GetNumberOfCells() > 0) {
      piece.Mesh.Cells[list] = cells->GetNumberOfCells();
      piece.Mesh.Connectivity[list] = cells->GetNumberOfConnectivityIds();
      const std::string number = unstructured ? "" : fmt::format(" {}", list);
      AddMeshArray(grid,
          DescribeMeshArray("Connectivity" + number, Centering::Cell, MeshRole::Connectivity, list), piece);
      AddMeshArray(
          grid, DescribeMeshArray("Offsets" + number, Centering::Cell, MeshRole::Offsets, list), piece);
    }
  }
  if (unstructured) {
    AddMeshArray(grid, DescribeMeshArray("Types", Centering::Cell, MeshRole::Types), piece);
  }
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    AddMeshArray(
        grid, DescribeMeshArray(vtkDataSetAttributes::GhostArrayName(), center, MeshRole::Flags), piece);
  }
  return true;
}

vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayDescription& description)
{
  switch (description.Role) {
    case MeshRole::Points:
      return vtkPointSet::SafeDownCast(grid)->GetPoints()->GetData();
    case MeshRole::Connectivity:
      return ListOf(grid, description.CellList)->GetConnectivityArray();
    case MeshRole::Offsets:
      return ListOf(grid, description.CellList)->GetOffsetsArray();
    case MeshRole::Types:
      return CellTypesOf(vtkUnstructuredGrid::SafeDownCast(grid));
    default:
      break;
  }
  return filters::AttributesOf(grid, description.Center == Centering::Node)
      ->GetArray(vtkDataSetAttributes::GhostArrayName());
}

}  // namespace patchio
