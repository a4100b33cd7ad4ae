#include "vtkPatchGeometryRepresentation.h"

#include "vtkPatchViewGeometryFilter.h"

#include <vtkCommand.h>
#include <vtkObjectFactory.h>
#include <vtkPVView.h>

#include <algorithm>

vtkStandardNewMacro(vtkPatchGeometryRepresentation);

vtkPatchGeometryRepresentation::vtkPatchGeometryRepresentation()
{
  this->GeometryFilter->Delete();
  this->GeometryFilter = vtkPatchViewGeometryFilter::New();
  this->GeometryFilter->AddObserver(vtkCommand::ProgressEvent, static_cast<vtkGeometryRepresentation*>(this),
      &vtkPatchGeometryRepresentation::HandleGeometryRepresentationProgress);
  this->SetupDefaults();
}

int vtkPatchGeometryRepresentation::ProcessViewRequest(
    vtkInformationRequestKey* request, vtkInformation* in, vtkInformation* out)
{
  auto* const filter = vtkPatchViewGeometryFilter::SafeDownCast(this->GeometryFilter);
  if (request == vtkPVView::REQUEST_UPDATE() && filter->GetOuterFacesOnly() == this->ShowsInnerFaces()) {
    filter->SetOuterFacesOnly(!this->ShowsInnerFaces());
    this->MarkModified();
  }
  return this->Superclass::ProcessViewRequest(request, in, out);
}

bool vtkPatchGeometryRepresentation::ShowsInnerFaces()
{
  const bool isSurface = this->Representation == SURFACE || this->Representation == SURFACE_WITH_EDGES;
  // The Multi-block Inspector selects "/Root" after the user has hidden and shown blocks. BlockSelectors is a
  // set in ParaView 5.11, and a vector in later versions.
  const auto selects = [this](const char* block) {
    return std::find(this->BlockSelectors.begin(), this->BlockSelectors.end(), block) !=
           this->BlockSelectors.end();
  };
  const bool showsAll = selects("/") || selects("/Root");
  return !isSurface || !showsAll || !this->BlockOpacities.empty() || this->NeedsOrderedCompositing();
}
