#include "vtkPatchFilter.h"

#include "Base/Communicator.h"
#include "Filters/BlockFilter.h"
#include "Filters/Blocks.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>

int vtkPatchFilter::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPatchFilter::RequestDataObject(
    vtkInformation*, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  patchio::SetOutput(
      vtkDataObject::GetData(inputs[0]), this->OutputClass(), outputs->GetInformationObject(0));
  return 1;
}

int vtkPatchFilter::RequestData(vtkInformation*, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const output = vtkDataObject::GetData(outputs);
  return patchio::Guarded(this, output, [&] {
    vtkSmartPointer<vtkDataObject> input = vtkDataObject::GetData(inputs[0]);
    if (this->Run(input, output)) {
      return 1;
    }
    const vtkSmartPointer<vtkAlgorithm> other = this->FilterOfVtk(input);
    return patchio::RunOnCopy(other, input, output);
  });
}

bool vtkPatchFilter::Run(vtkDataObject* input, vtkDataObject* output)
{
  if (!this->Supports()) {
    return false;
  }
  const patchio::filters::Blocks blocks = patchio::filters::MakeBlocks(input);
  const auto ranks = patchio::AllRanks();
  if (!patchio::AllOf(*ranks, blocks.UnsupportedReason.empty())) {
    vtkDebugMacro("Not supported: " << blocks.UnsupportedReason);
    return false;
  }
  this->SetAbortExecute(0);  // set by an earlier execution that the user stopped
  return this->Make(blocks, *ranks, output);
}

bool vtkPatchFilter::ReportProgress(double done)
{
  this->UpdateProgress(done);
  return !this->GetAbortExecute();
}
