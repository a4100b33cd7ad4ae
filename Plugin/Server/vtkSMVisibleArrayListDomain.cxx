#include "vtkSMVisibleArrayListDomain.h"

#include <vtkDataSetAttributes.h>
#include <vtkObjectFactory.h>

#include <cstring>

vtkStandardNewMacro(vtkSMVisibleArrayListDomain);

bool vtkSMVisibleArrayListDomain::IsFilteredArray(
    vtkPVDataInformation* info, int association, const char* arrayName)
{
  return std::strcmp(arrayName, vtkDataSetAttributes::GhostArrayName()) == 0 ||
         this->Superclass::IsFilteredArray(info, association, arrayName);
}
