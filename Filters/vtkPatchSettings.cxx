#include "vtkPatchSettings.h"

#include <vtkObjectFactory.h>

bool vtkPatchSettings::Fast = true;

vtkStandardNewMacro(vtkPatchSettings);
