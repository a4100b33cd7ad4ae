#include "ArraysToWrite.h"

#include "Base/Error.h"
#include "DataArrays.h"
#include "Filters/VtkVersions.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <fmt/format.h>

#include <algorithm>

namespace patchio {
namespace {

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

void AddMeshArray(vtkDataSet* grid, ArrayForm form, PieceForm& piece)
{
  vtkDataArray* const array = MeshArrayOf(grid, form);
  if (array && array->GetNumberOfTuples() > 0) {
    form.Components = array->GetNumberOfComponents();
    form.Type = ElementTypeOf(array).value_or(ElementType::Int64);
    piece.Arrays.push_back(form);
  }
}

ArrayForm FormOf(const std::string& name, Centering center, MeshRole role, int list = 0)
{
  ArrayForm form;
  form.Name = name;
  form.Center = center;
  form.Role = role;
  form.CellList = list;
  return form;
}

}  // namespace

bool TakeMesh(vtkDataSet* grid, PieceForm& form)
{
  auto* const unstructured = vtkUnstructuredGrid::SafeDownCast(grid);
  if (!unstructured && !vtkPolyData::SafeDownCast(grid)) {
    return false;
  }
  if (unstructured && HasPolyhedra(unstructured)) {
    throw Error(
        "The data have polyhedra, which PatchIO containers do not support. Apply Tetrahedralize first.");
  }
  form.Kind = unstructured ? GridKind::Unstructured : GridKind::Polygonal;
  form.Mesh.Points = grid->GetNumberOfPoints();
  form.Cells.Lower = form.Cells.Upper = {0, 0, 0};
  form.Cells.Upper[0] = static_cast<int>(std::max<vtkIdType>(grid->GetNumberOfCells(), 1)) - 1;
  form.Whole = form.Cells;
  AddMeshArray(grid, FormOf("Points", Centering::Node, MeshRole::Points), form);
  for (int list = 0; list < (unstructured ? 1 : MeshSize::MostLists); ++list) {
    vtkCellArray* const cells = ListOf(grid, list);
    if (cells && cells->GetNumberOfCells() > 0) {
      form.Mesh.Cells[list] = cells->GetNumberOfCells();
      form.Mesh.Connectivity[list] = cells->GetNumberOfConnectivityIds();
      const std::string number = unstructured ? "" : fmt::format(" {}", list);
      AddMeshArray(
          grid, FormOf("Connectivity" + number, Centering::Cell, MeshRole::Connectivity, list), form);
      AddMeshArray(grid, FormOf("Offsets" + number, Centering::Cell, MeshRole::Offsets, list), form);
    }
  }
  if (unstructured) {
    AddMeshArray(grid, FormOf("Types", Centering::Cell, MeshRole::Types), form);
  }
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    AddMeshArray(grid, FormOf(vtkDataSetAttributes::GhostArrayName(), center, MeshRole::Flags), form);
  }
  return true;
}

vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayForm& form)
{
  switch (form.Role) {
    case MeshRole::Points:
      return vtkPointSet::SafeDownCast(grid)->GetPoints()->GetData();
    case MeshRole::Connectivity:
      return ListOf(grid, form.CellList)->GetConnectivityArray();
    case MeshRole::Offsets:
      return ListOf(grid, form.CellList)->GetOffsetsArray();
    case MeshRole::Types:
      return CellTypesOf(vtkUnstructuredGrid::SafeDownCast(grid));
    default:
      break;
  }
  vtkDataSetAttributes* const attributes = form.Center == Centering::Cell
                                               ? static_cast<vtkDataSetAttributes*>(grid->GetCellData())
                                               : grid->GetPointData();
  return attributes->GetArray(vtkDataSetAttributes::GhostArrayName());
}

}  // namespace patchio
