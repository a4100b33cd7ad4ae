#include "vtkPatchThreshold.h"

#include "Filters/BlockFilter.h"
#include "Filters/Threshold.h"

#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkInformation.h>
#include <vtkObjectFactory.h>
#include <vtkThreshold.h>

using namespace patchio::filters;

vtkStandardNewMacro(vtkPatchThreshold);

vtkPatchThreshold::vtkPatchThreshold()
{
  this->SetInputArrayToProcess(
      0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, vtkDataSetAttributes::SCALARS);
}

void vtkPatchThreshold::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "LowerThreshold: " << this->LowerThreshold << "\n"
     << indent << "UpperThreshold: " << this->UpperThreshold << "\n"
     << indent << "AllScalars: " << this->AllScalars << "\n"
     << indent << "Invert: " << this->Invert << "\n";
}

bool vtkPatchThreshold::SupportsProperties()
{
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  return !array.Name.empty() &&
         (array.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS || array.OfCells());
}

bool vtkPatchThreshold::FillOutput(const Blocks& blocks, patchio::Communicator&, vtkDataObject* output)
{
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  ThresholdRequest request;
  request.Array = array.Name;
  request.IsPointData = array.Association == vtkDataObject::FIELD_ASSOCIATION_POINTS;
  request.AllPoints = this->AllScalars;
  request.Lower = this->LowerThreshold;
  request.Upper = this->UpperThreshold;
  request.Inverted = this->Invert;
  patchio::FillGrids(
      blocks, [&](const patchio::ProgressCallback& progress) { return Threshold(blocks, request, progress); },
      [this](double fraction) { return this->ReportProgress(fraction); }, output);
  return true;
}

vtkSmartPointer<vtkAlgorithm> vtkPatchThreshold::MakeVtkFilter(vtkSmartPointer<vtkDataObject>&)
{
  auto threshold = vtkSmartPointer<vtkThreshold>::New();
  threshold->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  threshold->SetThresholdFunction(vtkThreshold::THRESHOLD_BETWEEN);
  threshold->SetLowerThreshold(this->LowerThreshold);
  threshold->SetUpperThreshold(this->UpperThreshold);
  threshold->SetAllScalars(this->AllScalars);
  threshold->SetInvert(this->Invert);
  return threshold;
}
