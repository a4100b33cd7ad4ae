#include "vtkPatchThreshold.h"

#include "Base/RunOnAllRanks.h"
#include "BlockFilter.h"
#include "Extract/GridOfParts.h"
#include "Extract/Threshold.h"
#include "vtkPatchSettings.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataSet.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>

#include <limits>

using namespace patchio::extract;

vtkStandardNewMacro(vtkPatchThreshold);

void vtkPatchThreshold::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

int vtkPatchThreshold::FillInputPortInformation(int port, vtkInformation* info)
{
  this->Superclass::FillInputPortInformation(port, info);
  // Blocks come here together, and not one after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPatchThreshold::RequestDataObject(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const tree = vtkCompositeDataSet::GetData(inputs[0]);
  if (!tree) {
    return this->Superclass::RequestDataObject(request, inputs, outputs);
  }
  patchio::SetTreeOutput(tree, outputs->GetInformationObject(0));
  return 1;
}

int vtkPatchThreshold::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  vtkDataObject* const output = vtkDataObject::GetData(outputs);
  const bool isTree = vtkCompositeDataSet::SafeDownCast(input);
  return patchio::Guarded(this, output, [&] {
    if ((isTree || vtkDataSet::SafeDownCast(input)) && this->TakeBlocks(input, output)) {
      return 1;
    }
    return isTree ? this->UseParaView(input, output)
                  : this->Superclass::RequestData(request, inputs, outputs);
  });
}

/// Collective. False on all ranks if this input is not one for this class.
bool vtkPatchThreshold::TakeBlocks(vtkDataObject* input, vtkDataObject* output)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  vtkInformation* const array = this->GetInputArrayInformation(0);
  const char* const name =
      array->Has(vtkDataObject::FIELD_NAME()) ? array->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  const int association = array->Get(vtkDataObject::FIELD_ASSOCIATION());
  const bool ofPoints = association == vtkDataObject::FIELD_ASSOCIATION_POINTS;
  if (!this->UsePatchIO || !vtkPatchSettings::GetFastExtraction() || !name ||
      (!ofPoints && association != vtkDataObject::FIELD_ASSOCIATION_CELLS) ||
      (ofPoints && this->UseContinuousCellRange) || this->SelectedComponent != 0 ||
      this->ComponentMode != VTK_COMPONENT_MODE_USE_SELECTED) {
    return false;
  }
  const Blocks blocks = MakeBlocks(input);
  const auto ranks = patchio::AllRanks();
  if (!patchio::AllOf(*ranks, blocks.NotUnderstood.empty())) {
    vtkDebugMacro("Using ParaView's own Threshold because of " << blocks.NotUnderstood);
    return false;
  }
  const int kind = this->GetThresholdFunction();
  ThresholdRequest request;
  request.Array = name;
  request.OfPoints = ofPoints;
  request.AllPoints = this->AllScalars != 0;
  request.Lower = kind == THRESHOLD_UPPER   ? this->UpperThreshold
                  : kind == THRESHOLD_LOWER ? -infinity
                                            : this->LowerThreshold;
  request.Upper = kind == THRESHOLD_UPPER   ? infinity
                  : kind == THRESHOLD_LOWER ? this->LowerThreshold
                                            : this->UpperThreshold;
  request.Inverted = this->Invert;
  patchio::PutCells(
      *this, blocks, [&](const GoesOn& goesOn) { return Threshold(blocks, request, goesOn); }, output);
  return true;
}

int vtkPatchThreshold::UseParaView(vtkDataObject* input, vtkDataObject* output)
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
  return patchio::RunByItself(threshold, input, output);
}
