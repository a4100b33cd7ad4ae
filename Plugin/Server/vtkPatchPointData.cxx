#include "vtkPatchPointData.h"

#include "Filters/VtkVersions.h"
#include "KnownRanges.h"

#include <vtkDataSet.h>
#include <vtkObjectFactory.h>

vtkStandardNewMacro(vtkPatchPointData);

int vtkPatchPointData::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!this->Superclass::RequestData(request, inputs, outputs)) {
    return 0;
  }
  vtkDataSet* const input = vtkDataSet::GetData(inputs[0]);
  vtkDataSet* const output = vtkDataSet::GetData(outputs);
  if (input && output) {
    patchio::LimitRangesToVisible(output, input->GetCellGhostArray());
    if (patchio::RangesSkipHiddenPoints) {
      patchio::HidePointsOfHiddenCells(output, input->GetCellGhostArray());
    }
  }
  return 1;
}
