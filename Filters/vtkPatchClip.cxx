#include "vtkPatchClip.h"

#include "Filters/BlockFilter.h"
#include "Filters/Clip.h"

#include <vtkClipDataSet.h>
#include <vtkExtractGeometry.h>
#include <vtkImplicitSum.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkQuadric.h>

#include <algorithm>

using namespace patchio::filters;

vtkStandardNewMacro(vtkPatchClip);

void vtkPatchClip::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "ClipFunction: " << this->ClipFunction.Get() << "\n"
     << indent << "Value: " << this->Value << "\n"
     << indent << "InsideOut: " << this->InsideOut << "\n"
     << indent << "WholeCells: " << this->WholeCells << "\n";
}

vtkMTimeType vtkPatchClip::GetMTime()
{
  const vtkMTimeType own = this->Superclass::GetMTime();
  return this->ClipFunction ? std::max(own, this->ClipFunction->GetMTime()) : own;
}

bool vtkPatchClip::SupportsProperties()
{
  return Surface::FromFunction(this->ClipFunction, this->Value).has_value();
}

bool vtkPatchClip::FillOutput(const Blocks& blocks, patchio::Communicator&, vtkDataObject* output)
{
  const ClipRequest request{
      *Surface::FromFunction(this->ClipFunction, this->Value), this->InsideOut, this->WholeCells};
  patchio::FillGrids(
      blocks, [&](const patchio::ProgressCallback& progress) { return Clip(blocks, request, progress); },
      [this](double fraction) { return this->ReportProgress(fraction); }, output);
  return true;
}

vtkSmartPointer<vtkAlgorithm> vtkPatchClip::MakeVtkFilter(vtkSmartPointer<vtkDataObject>&)
{
  if (this->WholeCells) {
    auto whole = vtkSmartPointer<vtkExtractGeometry>::New();
    if (this->ClipFunction) {
      vtkNew<vtkQuadric> offset;  // -Value everywhere, because vtkExtractGeometry has no value
      offset->SetCoefficients(0, 0, 0, 0, 0, 0, 0, 0, 0, -this->Value);
      vtkNew<vtkImplicitSum> difference;
      difference->AddFunction(this->ClipFunction);
      difference->AddFunction(offset);
      whole->SetImplicitFunction(difference);
    }
    whole->SetExtractInside(this->InsideOut);
    whole->ExtractBoundaryCellsOn();
    return whole;
  }
  auto clip = vtkSmartPointer<vtkClipDataSet>::New();
  clip->SetClipFunction(this->ClipFunction);
  clip->SetValue(this->Value);
  clip->SetInsideOut(this->InsideOut);
  return clip;
}
