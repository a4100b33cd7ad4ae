#include "vtkPVPatchSlice.h"

#include "Filters/BlockFilter.h"
#include "RunInside.h"

#include <vtkCallbackCommand.h>
#include <vtkCommand.h>
#include <vtkCompositeDataSet.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkExtractGeometry.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkNonMergingPointLocator.h>
#include <vtkObjectFactory.h>
#include <vtkPVCutter.h>
#include <vtkPolyData.h>
#include <vtkVersionMacros.h>

vtkStandardNewMacro(vtkPVPatchSlice);

namespace {

/// Returns the filter that ParaView's class runs for slices.
vtkPVCutter* CutterOf(vtkPVMetaSliceDataSet* slice)
{
  return vtkPVCutter::SafeDownCast(slice->GetFilter(0));
}

/// Returns the filter that ParaView's class runs for crinkle slices.
vtkExtractGeometry* CrinkleOf(vtkPVMetaSliceDataSet* slice)
{
  return vtkExtractGeometry::SafeDownCast(slice->GetFilter(1));
}

}  // namespace

void vtkPVPatchSlice::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

int vtkPVPatchSlice::FillInputPortInformation(int port, vtkInformation* info)
{
  this->Superclass::FillInputPortInformation(port, info);
  // Otherwise VTK would pass one block after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPVPatchSlice::RequestDataObject(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const tree = vtkCompositeDataSet::GetData(inputs[0]);
  if (!tree) {
    return this->Superclass::RequestDataObject(request, inputs, outputs);
  }
  CutterOf(this)->SetCutFunction(this->ImplicitFunctions[METASLICE_DATASET]);
  CrinkleOf(this)->SetImplicitFunction(this->ImplicitFunctions[METASLICE_DATASET]);
  patchio::SetTreeOutput(tree, outputs->GetInformationObject(0));
  return 1;
}

int vtkPVPatchSlice::ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  const auto bySuperclass = [&] { return this->Superclass::ProcessRequest(request, inputs, outputs); };
  if (!request->Has(vtkDemandDrivenPipeline::REQUEST_DATA())) {
    return bySuperclass();
  }
  return patchio::Execute(*this, inputs, outputs,
      {[this](auto* input, auto* output) { return this->SliceByPatchIO(input, output); },
          [this](auto* input, auto* output) { return this->SliceByParaView(input, output); }, bySuperclass});
}

bool vtkPVPatchSlice::SliceByPatchIO(vtkDataObject* input, vtkDataObject* output)
{
  vtkPVCutter* const cutter = CutterOf(this);
  if (!this->UsePatchIO || this->GetActiveFilter() != cutter) {
    return false;
  }
  this->InnerFilter->SetCutFunction(cutter->GetCutFunction());
  this->InnerFilter->SetNumberOfContours(cutter->GetNumberOfContours());
  for (int i = 0; i < cutter->GetNumberOfContours(); ++i) {
    this->InnerFilter->SetValue(i, cutter->GetValue(i));
  }
  this->InnerFilter->SetGenerateTriangles(cutter->GetGenerateTriangles() != 0);
  return patchio::RunInside(*this->InnerFilter, *this, input, output);
}

int vtkPVPatchSlice::SliceByParaView(vtkDataObject* input, vtkDataObject* output)
{
  vtkPVCutter* const cutter = CutterOf(this);
  vtkNew<vtkPVMetaSliceDataSet> slice;
  slice->SetDataSetCutFunction(this->ImplicitFunctions[METASLICE_DATASET]);
  slice->SetHyperTreeGridCutFunction(this->ImplicitFunctions[METASLICE_HYPERTREEGRID]);
  slice->PreserveInputCells(this->GetActiveFilter() == cutter ? 0 : 1);
  slice->SetNumberOfContours(cutter->GetNumberOfContours());
  for (int i = 0; i < cutter->GetNumberOfContours(); ++i) {
    slice->SetValue(i, cutter->GetValue(i));
  }
  slice->SetGenerateTriangles(cutter->GetGenerateTriangles());
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  slice->SetMergePoints(!vtkNonMergingPointLocator::SafeDownCast(cutter->GetLocator()));
#else
  slice->SetLocator(cutter->GetLocator());
#endif
  slice->SetDual(cutter->GetDual());
  slice->AddObserver(vtkCommand::ProgressEvent, this->InternalProgressObserver);
  return patchio::RunOnCopy(slice, input, output);
}
