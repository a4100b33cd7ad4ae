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
  return patchio::RunAndReportErrors(this, output, [&] {
    vtkSmartPointer<vtkDataObject> input = vtkDataObject::GetData(inputs[0]);
    if (this->Run(input, output)) {
      return 1;
    }
    const vtkSmartPointer<vtkAlgorithm> vtkFilter = this->MakeVtkFilter(input);
    return patchio::RunOnCopy(vtkFilter, input, output);
  });
}

bool vtkPatchFilter::Run(vtkDataObject* input, vtkDataObject* output)
{
  if (!this->SupportsProperties()) {
    return false;
  }
  const auto ranks = patchio::GlobalCommunicator();
  const patchio::filters::Blocks blocks = patchio::filters::MakeBlocks(input, *ranks);
  if (!patchio::AllOf(*ranks, blocks.UnsupportedClass.empty())) {
    vtkDebugMacro("This filter does not support the input: " << blocks.UnsupportedClass);
    return false;
  }
  this->SetAbortExecute(0);  // an earlier execution that the user stopped may have set the flag
  return this->FillOutput(blocks, *ranks, output);
}

bool vtkPatchFilter::ReportProgress(double fraction)
{
  this->UpdateProgress(fraction);
  return !this->GetAbortExecute();
}
