#include "vtkPatchGeometryRepresentation.h"

#include "vtkPatchViewGeometryFilter.h"

#include <vtkCommand.h>
#include <vtkObjectFactory.h>

#include <set>
#include <string>

vtkStandardNewMacro(vtkPatchGeometryRepresentation);

vtkPatchGeometryRepresentation::vtkPatchGeometryRepresentation()
{
  this->GeometryFilter->Delete();
  this->GeometryFilter = vtkPatchViewGeometryFilter::New();
  this->GeometryFilter->AddObserver(vtkCommand::ProgressEvent, static_cast<vtkGeometryRepresentation*>(this),
      &vtkPatchGeometryRepresentation::HandleGeometryRepresentationProgress);
  this->SetupDefaults();
}

void vtkPatchGeometryRepresentation::AddBlockSelector(const char* selector)
{
  this->Superclass::AddBlockSelector(selector);
  auto* const filter = vtkPatchViewGeometryFilter::SafeDownCast(this->GeometryFilter);
  const bool all = this->BlockSelectors == std::set<std::string>{"/"};
  if (filter->GetOuterFacesOnly() != all) {
    filter->SetOuterFacesOnly(all);
    this->MarkModified();
  }
}
