#include "vtkPVPatchClip.h"

#include "Filters/BlockFilter.h"
#include "RunInside.h"

#include <vtkBox.h>
#include <vtkCallbackCommand.h>
#include <vtkCommand.h>
#include <vtkCompositeDataSet.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkExtractGeometry.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPVClipDataSet.h>

vtkStandardNewMacro(vtkPVPatchClip);

namespace {

/// Returns the filter that ParaView's class runs for clips.
vtkPVClipDataSet* ClipperOf(vtkPVMetaClipDataSet* clip)
{
  return vtkPVClipDataSet::SafeDownCast(clip->GetFilter(0));
}

/// Returns the filter that ParaView's class runs for crinkle clips.
vtkExtractGeometry* CrinkleOf(vtkPVMetaClipDataSet* clip)
{
  return vtkExtractGeometry::SafeDownCast(clip->GetFilter(1));
}

}  // namespace

void vtkPVPatchClip::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

int vtkPVPatchClip::FillInputPortInformation(int port, vtkInformation* info)
{
  this->Superclass::FillInputPortInformation(port, info);
  // Otherwise VTK would pass one block after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPVPatchClip::RequestDataObject(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const tree = vtkCompositeDataSet::GetData(inputs[0]);
  if (!tree) {
    return this->Superclass::RequestDataObject(request, inputs, outputs);
  }
  ClipperOf(this)->SetClipFunction(this->ImplicitFunctions[METACLIP_DATASET]);
  CrinkleOf(this)->SetImplicitFunction(this->ImplicitFunctions[METACLIP_DATASET]);
  patchio::SetTreeOutput(tree, outputs->GetInformationObject(0));
  return 1;
}

int vtkPVPatchClip::ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  const auto bySuperclass = [&] { return this->Superclass::ProcessRequest(request, inputs, outputs); };
  if (!request->Has(vtkDemandDrivenPipeline::REQUEST_DATA())) {
    return bySuperclass();
  }
  return patchio::Execute(*this, inputs, outputs,
      {[this](auto* input, auto* output) { return this->ClipByPatchIO(input, output); },
          [this](auto* input, auto* output) { return this->ClipByParaView(input, output); }, bySuperclass});
}

bool vtkPVPatchClip::ClipByPatchIO(vtkDataObject* input, vtkDataObject* output)
{
  vtkPVClipDataSet* const clipper = ClipperOf(this);
  vtkImplicitFunction* const function = this->ImplicitFunctions[METACLIP_DATASET];
  const bool crinkle = this->GetActiveFilter() != clipper;
  const bool exact =
      this->GetExactBoxClip() && clipper->GetInsideOut() && !crinkle && vtkBox::SafeDownCast(function);
  if (!this->UsePatchIO || exact) {
    return false;
  }
  this->InnerFilter->SetClipFunction(function);
  this->InnerFilter->SetValue(clipper->GetUseValueAsOffset() && !crinkle ? clipper->GetValue() : 0.0);
  this->InnerFilter->SetInsideOut(clipper->GetInsideOut() != 0);
  this->InnerFilter->SetWholeCells(crinkle);
  return patchio::RunInside(*this->InnerFilter, *this, input, output);
}

int vtkPVPatchClip::ClipByParaView(vtkDataObject* input, vtkDataObject* output)
{
  vtkPVClipDataSet* const clipper = ClipperOf(this);
  vtkNew<vtkPVMetaClipDataSet> clip;
  clip->SetDataSetClipFunction(this->ImplicitFunctions[METACLIP_DATASET]);
  clip->SetHyperTreeGridClipFunction(this->ImplicitFunctions[METACLIP_HYPERTREEGRID]);
  clip->PreserveInputCells(this->GetActiveFilter() == clipper ? 0 : 1);
  clip->SetInsideOut(clipper->GetInsideOut());
  clip->SetValue(clipper->GetValue());
  clip->SetUseValueAsOffset(clipper->GetUseValueAsOffset());
  clip->SetExactBoxClip(this->GetExactBoxClip());
  clip->SetInputArrayToProcess(0, clipper->GetInputArrayInformation(0));
  clip->AddObserver(vtkCommand::ProgressEvent, this->InternalProgressObserver);
  return patchio::RunOnCopy(clip, input, output);
}
