#include "vtkPVPatchContour.h"

#include "Filters/BlockFilter.h"
#include "RunInside.h"

#include <vtkCellDataToPointData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkNonOverlappingAMR.h>
#include <vtkObjectFactory.h>
#include <vtkVersionMacros.h>

namespace {

/// Returns `input` if `input` is composite data whose blocks are processed together. Returns null for
/// vtkNonOverlappingAMR and for data that are not composite.
vtkCompositeDataSet* BlocksIn(vtkDataObject* input)
{
  return vtkNonOverlappingAMR::SafeDownCast(input) ? nullptr : vtkCompositeDataSet::SafeDownCast(input);
}

}  // namespace

vtkStandardNewMacro(vtkPVPatchContour);

void vtkPVPatchContour::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

/// Accepts composite data, too. Otherwise VTK would pass one block after another.
int vtkPVPatchContour::FillInputPortInformation(int port, vtkInformation* info)
{
  const int filled = this->Superclass::FillInputPortInformation(port, info);
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return filled;
}

int vtkPVPatchContour::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkDataObject");
  return 1;
}

int vtkPVPatchContour::ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_OBJECT())) {
    return patchio::RunAndReportErrors(this, vtkDataObject::GetData(outputs),
        [&] { return this->Superclass::ProcessRequest(request, inputs, outputs); });
  }
  vtkCompositeDataSet* const blocks = BlocksIn(vtkDataObject::GetData(inputs[0]));
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  if (!blocks) {
    return this->Superclass::ProcessRequest(request, inputs, outputs);
  }
#endif
  patchio::SetOutput(blocks, "vtkPolyData", outputs->GetInformationObject(0));
  return 1;
}

int vtkPVPatchContour::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  if (this->ContourByPatchIO(input, vtkDataObject::GetData(outputs))) {
    return 1;
  }
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  const int components = vtkPatchContour::ComponentsOf(input, array.Association, array.Name.c_str());
  // Only scripts can select an array with several components. ParaView's own filter would end the program.
  if (components > 1) {
    vtkErrorMacro("Contour requires an array with one component, but "
                  << array.Name << " has " << components
                  << ". Use Calculator to make a scalar array from this array.");
    return 1;
  }
  return this->ContourByParaView(request, inputs, outputs);
}

bool vtkPVPatchContour::ContourByPatchIO(vtkDataObject* input, vtkDataObject* output)
{
  // ParaView is fast on points of a single grid.
  const bool usesCells = patchio::GetArrayToProcess(*this).OfCells();
  const bool isSupported = BlocksIn(input) || (vtkDataSet::SafeDownCast(input) && usesCells);
  if (!this->UsePatchIO || !isSupported || !this->GetGenerateTriangles()) {
    return false;
  }
  this->InnerFilter->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  this->InnerFilter->SetNumberOfContours(static_cast<int>(this->GetNumberOfContours()));
  for (int i = 0; i < this->GetNumberOfContours(); ++i) {
    this->InnerFilter->SetValue(i, this->GetValue(i));
  }
  this->InnerFilter->SetComputeScalars(this->GetComputeScalars() != 0);
  this->InnerFilter->SetComputeNormals(this->GetComputeNormals() != 0);
  this->InnerFilter->SetComputeGradients(this->GetComputeGradients() != 0);
  this->InnerFilter->SetDoublePoints(this->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION);
  return patchio::RunInside(*this->InnerFilter, *this, input, output);
}

/// Makes contours by ParaView's own filter. For a cell array of a data set or of blocks, first converts the
/// cell arrays to point arrays. Returns 0 after an error, otherwise 1.
int vtkPVPatchContour::ContourByParaView(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  const bool usesCells =
      patchio::GetArrayToProcess(*this).OfCells() && (vtkDataSet::SafeDownCast(input) || BlocksIn(input));
  if (!usesCells && !BlocksIn(input)) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  vtkNew<vtkPVContourFilter> contour;
  contour->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  vtkNew<vtkCellDataToPointData> toPoints;
  if (usesCells) {
    contour->SetInputArrayToProcess(
        0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, patchio::GetArrayToProcess(*this).Name.c_str());
    toPoints->SetInputDataObject(input);
    toPoints->Update();
  }
  contour->SetNumberOfContours(static_cast<int>(this->GetNumberOfContours()));
  for (int i = 0; i < this->GetNumberOfContours(); ++i) {
    contour->SetValue(i, this->GetValue(i));
  }
  contour->SetComputeNormals(this->GetComputeNormals());
  contour->SetComputeGradients(this->GetComputeGradients());
  contour->SetComputeScalars(this->GetComputeScalars());
  contour->SetUseScalarTree(this->GetUseScalarTree());
  contour->SetLocator(this->GetLocator());
  contour->SetArrayComponent(this->GetArrayComponent());
  contour->SetGenerateTriangles(this->GetGenerateTriangles());
  contour->SetOutputPointsPrecision(this->GetOutputPointsPrecision());
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
  contour->SetFastMode(this->GetFastMode());
#endif
  return patchio::RunOnCopy(
      contour, usesCells ? toPoints->GetOutputDataObject(0) : input, vtkDataObject::GetData(outputs));
}
