#include "vtkPatchContour.h"

#include "Base/RunOnAllRanks.h"
#include "BlockFilter.h"
#include "Extract/ContourOutput.h"
#include "vtkPatchSettings.h"

#include <vtkAbstractArray.h>
#include <vtkCellDataToPointData.h>
#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkContourValues.h>
#include <vtkDataObject.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkNonOverlappingAMR.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkVersionMacros.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

using patchio::Communicator;

/// Composite input whose blocks this filter takes itself.
vtkCompositeDataSet* BlocksIn(vtkDataObject* input)
{
  return vtkNonOverlappingAMR::SafeDownCast(input) ? nullptr : vtkCompositeDataSet::SafeDownCast(input);
}

/// How many components the array to be contoured has in the first block that has it; 0 if none has.
int ComponentsOf(vtkDataObject* input, int association, const std::string& name)
{
  if (auto* const blocks = vtkCompositeDataSet::SafeDownCast(input)) {
    const auto block = vtkSmartPointer<vtkCompositeDataIterator>::Take(blocks->NewIterator());
    for (block->InitTraversal(); !block->IsDoneWithTraversal(); block->GoToNextItem()) {
      if (const int found = ComponentsOf(block->GetCurrentDataObject(), association, name)) {
        return found;
      }
    }
    return 0;
  }
  vtkFieldData* const arrays = input ? input->GetAttributesAsFieldData(association) : nullptr;
  vtkAbstractArray* const array = arrays ? arrays->GetAbstractArray(name.c_str()) : nullptr;
  return array ? array->GetNumberOfComponents() : 0;
}

}  // namespace

vtkStandardNewMacro(vtkPatchContour);

void vtkPatchContour::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "UsePatchIO: " << this->UsePatchIO << "\n";
}

/// Also composite data, which VTK would otherwise hand over block by block.
int vtkPatchContour::FillInputPortInformation(int port, vtkInformation* info)
{
  const int filled = this->Superclass::FillInputPortInformation(port, info);
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return filled;
}

int vtkPatchContour::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkDataObject");
  return 1;
}

int vtkPatchContour::ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_OBJECT())) {
    const auto process = [&] { return this->Superclass::ProcessRequest(request, inputs, outputs); };
    vtkDataObject* const made = vtkDataObject::GetData(outputs);
    return made ? patchio::Guarded(this, made, process) : process();
  }
  vtkInformation* const output = outputs->GetInformationObject(0);
  if (vtkCompositeDataSet* const blocks = BlocksIn(vtkDataObject::GetData(inputs[0]))) {
    patchio::SetTreeOutput(blocks, output);
    return 1;
  }
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  return this->Superclass::ProcessRequest(request, inputs, outputs);
#else
  if (!vtkPolyData::GetData(output)) {
    output->Set(vtkDataObject::DATA_OBJECT(), vtkNew<vtkPolyData>());
  }
  return 1;
#endif
}

bool vtkPatchContour::IsOfPoints()
{
  vtkInformation* const array = this->GetInputArrayInformation(0);
  return array->Get(vtkDataObject::FIELD_ASSOCIATION()) != vtkDataObject::FIELD_ASSOCIATION_CELLS;
}

std::string vtkPatchContour::NameOfArray()
{
  vtkInformation* const array = this->GetInputArrayInformation(0);
  const char* const name =
      array->Has(vtkDataObject::FIELD_NAME()) ? array->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  return name ? name : "";
}

int vtkPatchContour::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  const int association =
      this->IsOfPoints() ? vtkDataObject::FIELD_ASSOCIATION_POINTS : vtkDataObject::FIELD_ASSOCIATION_CELLS;
  const int components = ComponentsOf(input, association, this->NameOfArray());
  // ParaView is fast on points of a single grid.
  const bool isKnown = BlocksIn(input) || (vtkDataSet::SafeDownCast(input) && !this->IsOfPoints());
  const bool wanted = this->UsePatchIO && vtkPatchSettings::GetFastExtraction() &&
                      this->GetGenerateTriangles() && !this->NameOfArray().empty();
  // A rank without blocks does not know.
  if (wanted && isKnown && patchio::AllOf(*patchio::AllRanks(), components <= 1) &&
      this->MakeContour(input, vtkDataObject::GetData(outputs))) {
    return 1;
  }
  // Only scripts ask for that; ParaView's own filter ends the program there.
  if (components > 1) {
    vtkErrorMacro("Contour requires an array with one component, but "
                  << this->NameOfArray() << " has " << components
                  << ". Use Calculator to make a scalar array from it");
    return 1;
  }
  return this->UseParaView(request, inputs, outputs);
}

/// Collective. False on all ranks if this input is not one for this class.
bool vtkPatchContour::MakeContour(vtkDataObject* input, vtkDataObject* output)
{
  using namespace patchio::extract;
  const std::unique_ptr<Communicator> ranks = patchio::AllRanks();
  this->AbortExecute = 0;  // that of a contour that was given up
  const Blocks blocks = MakeBlocks(input);
  if (!this->IsOfPoints()) {
    const vtkSmartPointer<vtkPolyData> whole = this->ContourOf(blocks, *ranks);
    if (whole) {
      patchio::PutPieces({"contour"}, {whole}, output);
    }
    return whole;
  }
  if (!WhyNotUnderstood(blocks, this->NameOfArray(), true, *ranks).empty()) {
    return false;
  }
  std::vector<vtkSmartPointer<vtkPolyData>> pieces;
  for (std::size_t p = 0; p < blocks.Pieces.size(); ++p) {
    Blocks part;
    std::copy_if(blocks.List.begin(), blocks.List.end(), std::back_inserter(part.List),
        [p](const Block& block) { return block.Piece == static_cast<int>(p); });
    const vtkSmartPointer<vtkPolyData> piece = this->ContourOf(part, *ranks);
    pieces.push_back(piece ? piece : vtkSmartPointer<vtkPolyData>::New());
  }
  patchio::PutPieces(blocks.Pieces, pieces, output);
  return true;
}

/// Collective. Null on all ranks if there are no such blocks.
vtkSmartPointer<vtkPolyData> vtkPatchContour::ContourOf(
    const patchio::extract::Blocks& blocks, patchio::Communicator& ranks)
{
  using namespace patchio::extract;
  CellSet cells = MakeCellSet(blocks, this->NameOfArray(), this->IsOfPoints(), ranks);
  if (!cells.NotUnderstood.empty()) {
    return nullptr;
  }
  ContourOptions options;
  options.Levels.assign(this->GetValues(), this->GetValues() + this->GetNumberOfContours());
  options.Scalars = this->GetComputeScalars();
  options.Normals = this->GetComputeNormals() && cells.FlatAxis < 0;
  options.Gradients = this->GetComputeGradients();
  options.DoublePoints = this->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION;
  if (!this->IsOfPoints() || options.Normals || options.Gradients) {
    AddCellsOfOthers(cells, options.Normals || options.Gradients, ranks);
  }
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  if (!patchio::AllOf(ranks, lattice.Misfit().empty() && DualCells::CanNumber(lattice))) {
    return nullptr;
  }
  const Contour contour = patchio::extract::MakeContour(lattice, options.Levels, [this](double part) {
    this->UpdateProgress(part);
    return !this->GetAbortExecute();
  });
  auto piece = vtkSmartPointer<vtkPolyData>::New();
  FillPolyData(contour, lattice, cells, options, piece);
  return piece;
}

/// ParaView's own filter, on points.
int vtkPatchContour::UseParaView(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  const bool ofCells = !this->IsOfPoints() && (vtkDataSet::SafeDownCast(input) || BlocksIn(input));
  if (!ofCells && !BlocksIn(input)) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  vtkNew<vtkPVContourFilter> contour;
  contour->SetInputArrayToProcess(0, this->GetInputArrayInformation(0));
  vtkNew<vtkCellDataToPointData> toPoints;
  if (ofCells) {
    contour->SetInputArrayToProcess(
        0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, this->NameOfArray().c_str());
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
  return patchio::RunByItself(
      contour, ofCells ? toPoints->GetOutputDataObject(0) : input, vtkDataObject::GetData(outputs));
}
