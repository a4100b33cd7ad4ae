#include "vtkPVPatchThreshold.h"

#include "Filters/BlockFilter.h"
#include "RunInside.h"

#include <vtkCompositeDataSet.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>

#include <limits>

vtkStandardNewMacro(vtkPVPatchThreshold);

void vtkPVPatchThreshold::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

int vtkPVPatchThreshold::FillInputPortInformation(int port, vtkInformation* info)
{
  this->Superclass::FillInputPortInformation(port, info);
  // Otherwise VTK would pass one block after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPVPatchThreshold::RequestDataObject(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const tree = vtkCompositeDataSet::GetData(inputs[0]);
  if (!tree) {
    return this->Superclass::RequestDataObject(request, inputs, outputs);
  }
  patchio::SetTreeOutput(tree, outputs->GetInformationObject(0));
  return 1;
}

int vtkPVPatchThreshold::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  return patchio::Execute(*this, inputs, outputs,
      {[this](auto* input, auto* output) { return this->ThresholdByPatchIO(input, output); },
          [this](auto* input, auto* output) { return this->ThresholdByParaView(input, output); },
          [&] { return this->Superclass::RequestData(request, inputs, outputs); }});
}

bool vtkPVPatchThreshold::ThresholdByPatchIO(vtkDataObject* input, vtkDataObject* output)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool usesPoints =
      patchio::GetArrayToProcess(*this).Association == vtkDataObject::FIELD_ASSOCIATION_POINTS;
  if (!this->UsePatchIO || (usesPoints && this->UseContinuousCellRange) || this->SelectedComponent != 0 ||
      this->ComponentMode != VTK_COMPONENT_MODE_USE_SELECTED) {
    return false;
  }
  const int function = this->GetThresholdFunction();
  this->InnerFilter->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  this->InnerFilter->SetLowerThreshold(function == THRESHOLD_UPPER   ? this->UpperThreshold
                                       : function == THRESHOLD_LOWER ? -infinity
                                                                     : this->LowerThreshold);
  this->InnerFilter->SetUpperThreshold(function == THRESHOLD_UPPER   ? infinity
                                       : function == THRESHOLD_LOWER ? this->LowerThreshold
                                                                     : this->UpperThreshold);
  this->InnerFilter->SetAllScalars(this->AllScalars != 0);
  this->InnerFilter->SetInvert(this->Invert);
  return patchio::RunInside(*this->InnerFilter, *this, input, output);
}

int vtkPVPatchThreshold::ThresholdByParaView(vtkDataObject* input, vtkDataObject* output)
{
  vtkNew<vtkPVThreshold> threshold;
  threshold->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  threshold->SetThresholdFunction(this->GetThresholdFunction());
  threshold->SetLowerThreshold(this->LowerThreshold);
  threshold->SetUpperThreshold(this->UpperThreshold);
  threshold->SetAllScalars(this->AllScalars);
  threshold->SetUseContinuousCellRange(this->UseContinuousCellRange);
  threshold->SetInvert(this->Invert);
  threshold->SetComponentMode(this->ComponentMode);
  threshold->SetSelectedComponent(this->SelectedComponent);
  threshold->SetOutputPointsPrecision(this->OutputPointsPrecision);
  return patchio::RunOnCopy(threshold, input, output);
}
