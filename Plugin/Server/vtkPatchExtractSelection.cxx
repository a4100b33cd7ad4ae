#include "vtkPatchExtractSelection.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkObjectFactory.h>

vtkStandardNewMacro(vtkPatchExtractSelection);

int vtkPatchExtractSelection::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!this->Superclass::RequestData(request, inputs, outputs)) {
    return 0;
  }
  for (vtkDataSet* const grid :
      vtkCompositeDataSet::GetDataSets<vtkDataSet>(vtkDataObject::GetData(outputs, 0))) {
    for (const int attributeType : {vtkDataObject::POINT, vtkDataObject::CELL}) {
      grid->GetAttributes(attributeType)->RemoveArray(vtkDataSetAttributes::GhostArrayName());
    }
  }
  return 1;
}
