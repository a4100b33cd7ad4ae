#include "vtkPatchGeometryRepresentation.h"

#include "vtkPatchViewGeometryFilter.h"

#include <vtkCommand.h>
#include <vtkObjectFactory.h>

vtkStandardNewMacro(vtkPatchGeometryRepresentation);

vtkPatchGeometryRepresentation::vtkPatchGeometryRepresentation()
{
  this->GeometryFilter->Delete();
  this->GeometryFilter = vtkPatchViewGeometryFilter::New();
  this->GeometryFilter->AddObserver(vtkCommand::ProgressEvent, static_cast<vtkGeometryRepresentation*>(this),
      &vtkPatchGeometryRepresentation::HandleGeometryRepresentationProgress);
  this->SetupDefaults();
}
