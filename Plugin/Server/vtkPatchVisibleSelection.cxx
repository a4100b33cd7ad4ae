#include "vtkPatchVisibleSelection.h"

#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkExtractCells.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkSignedCharArray.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

namespace {

/// Marks hidden cells as outside the selection, in the array vtkInsidedness. The flags stay unchanged,
/// because the input may share the array of flags with `grid`.
void MarkHiddenCellsOutside(vtkDataSet* grid)
{
  vtkUnsignedCharArray* const flags = grid->GetCellGhostArray();
  auto* const inside =
      vtkSignedCharArray::SafeDownCast(grid->GetCellData()->GetAbstractArray("vtkInsidedness"));
  for (vtkIdType cell = 0; flags && inside && cell < grid->GetNumberOfCells(); ++cell) {
    if (flags->GetValue(cell) != 0) {
      inside->SetValue(cell, 0);
    }
  }
}

/// Removes hidden cells, and the flags. In VTK 9.2, vtkUnstructuredGrid::RemoveGhostCells() cannot be used,
/// because the method reads beyond the end of point arrays.
void RemoveHiddenCells(vtkUnstructuredGrid* grid)
{
  vtkUnsignedCharArray* const flags = grid->GetCellGhostArray();
  if (!flags) {
    return;
  }
  vtkNew<vtkIdList> visible;
  for (vtkIdType cell = 0; cell < grid->GetNumberOfCells(); ++cell) {
    if (flags->GetValue(cell) == 0) {
      visible->InsertNextId(cell);
    }
  }
  if (visible->GetNumberOfIds() < grid->GetNumberOfCells()) {
    vtkNew<vtkUnstructuredGrid> all;
    all->ShallowCopy(grid);
    vtkNew<vtkExtractCells> extract;
    extract->SetInputData(all);
    extract->SetCellList(visible);
    extract->PassThroughCellIdsOff();  // the grid already has an array with the ids of the input's cells
    extract->Update();
    grid->ShallowCopy(extract->GetOutput());
  }
  grid->GetCellData()->RemoveArray(vtkDataSetAttributes::GhostArrayName());
}

}  // namespace

vtkStandardNewMacro(vtkPatchVisibleSelection);

int vtkPatchVisibleSelection::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!this->Superclass::RequestData(request, inputs, outputs)) {
    return 0;
  }
  for (vtkDataSet* const grid :
      vtkCompositeDataSet::GetDataSets<vtkDataSet>(vtkDataObject::GetData(outputs, 0))) {
    if (this->GetPreserveTopology()) {
      MarkHiddenCellsOutside(grid);
    } else if (auto* const extracted = vtkUnstructuredGrid::SafeDownCast(grid)) {
      RemoveHiddenCells(extracted);
    }
  }
  return 1;
}
