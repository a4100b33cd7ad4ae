#include "vtkPatchContour.h"

#include "Extract/ContourOutput.h"
#include "ReaderRanks.h"

#include <vtkCellDataToPointData.h>
#include <vtkCompositeDataSet.h>
#include <vtkContourValues.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiProcessController.h>
#include <vtkNew.h>
#include <vtkNonOverlappingAMR.h>
#include <vtkObjectFactory.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <memory>

namespace {

using patchio::Communicator;

/// Composite input whose blocks this filter takes itself.
vtkCompositeDataSet* BlocksIn(vtkDataObject* input)
{
  return vtkNonOverlappingAMR::SafeDownCast(input) ? nullptr : vtkCompositeDataSet::SafeDownCast(input);
}

vtkSmartPointer<vtkDataObject> OutputFor(vtkCompositeDataSet* input)
{
  if (vtkPartitionedDataSet::SafeDownCast(input) || vtkPartitionedDataSetCollection::SafeDownCast(input)) {
    return vtkSmartPointer<vtkDataObject>::Take(input->NewInstance());
  }
  return vtkSmartPointer<vtkMultiBlockDataSet>::New();
}

/// Makes the piece of this rank the only block.
void Put(vtkPolyData* piece, vtkDataObject* output)
{
  if (auto* const data = vtkPolyData::SafeDownCast(output)) {
    data->ShallowCopy(piece);
  } else if (auto* const blocks = vtkMultiBlockDataSet::SafeDownCast(output)) {
    blocks->SetBlock(0, piece);
    blocks->GetMetaData(0u)->Set(vtkCompositeDataSet::NAME(), "contour");
  } else if (auto* const parts = vtkPartitionedDataSet::SafeDownCast(output)) {
    parts->SetPartition(0, piece);
  } else if (auto* const sets = vtkPartitionedDataSetCollection::SafeDownCast(output)) {
    sets->SetPartition(0, 0, piece);
  }
}

/// Collective: true if this is so on all ranks.
bool IsOnAllRanks(bool here, Communicator& ranks)
{
  const std::vector<int> all = ranks.AllGather(std::vector<int>{here ? 1 : 0});
  return std::all_of(all.begin(), all.end(), [](int rank) { return rank != 0; });
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

int vtkPatchContour::RequestDataObject(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkCompositeDataSet* const blocks = BlocksIn(vtkDataObject::GetData(inputs[0]));
  if (!blocks) {
    return this->Superclass::RequestDataObject(request, inputs, outputs);
  }
  const vtkSmartPointer<vtkDataObject> output = OutputFor(blocks);
  vtkDataObject* const before = vtkDataObject::GetData(outputs);
  if (!before || !before->IsA(output->GetClassName())) {
    outputs->GetInformationObject(0)->Set(vtkDataObject::DATA_OBJECT(), output);
  }
  return 1;
}

int vtkPatchContour::AssociationOfArray()
{
  vtkInformation* const array = this->GetInputArrayInformation(0);
  return array->Has(vtkDataObject::FIELD_ASSOCIATION()) ? array->Get(vtkDataObject::FIELD_ASSOCIATION()) : -1;
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
  const bool wanted = this->UsePatchIO && this->GetGenerateTriangles() && !this->NameOfArray().empty() &&
                      this->AssociationOfArray() == vtkDataObject::FIELD_ASSOCIATION_CELLS;
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  const bool isKnown = vtkDataSet::SafeDownCast(input) || BlocksIn(input);
  if (wanted && isKnown && this->MakeContour(input, vtkDataObject::GetData(outputs))) {
    return 1;
  }
  return this->UseParaView(request, inputs, outputs);
}

/// Collective. False on all ranks if this input is not one for this class.
bool vtkPatchContour::MakeContour(vtkDataObject* input, vtkDataObject* output)
{
  using namespace patchio::extract;
  const std::unique_ptr<Communicator> ranks =
      patchio::MakeCommunicator(vtkMultiProcessController::GetGlobalController());
  const Blocks blocks = MakeBlocks(input);
  CellSet cells = MakeCellSet(blocks, this->NameOfArray(), *ranks);
  if (!cells.NotUnderstood.empty()) {
    return false;
  }
  ContourOptions options;
  options.Levels.assign(this->GetValues(), this->GetValues() + this->GetNumberOfContours());
  options.Scalars = this->GetComputeScalars();
  options.Normals = this->GetComputeNormals();
  options.Gradients = this->GetComputeGradients();
  options.DoublePoints = this->GetOutputPointsPrecision() == vtkAlgorithm::DOUBLE_PRECISION;
  AddCellsOfOthers(cells, options.Normals || options.Gradients, *ranks);
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  if (!IsOnAllRanks(lattice.Misfit().empty() && DualCells::CanNumber(lattice), *ranks)) {
    return false;
  }
  const Contour contour = patchio::extract::MakeContour(lattice, options.Levels, [this](double part) {
    this->UpdateProgress(part);
    return !this->GetAbortExecute();
  });
  vtkNew<vtkPolyData> piece;
  FillPolyData(contour, lattice, cells, options, piece);
  Put(piece, output);
  return true;
}

/// ParaView's own filter, on points.
int vtkPatchContour::UseParaView(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  const bool ofCells = this->AssociationOfArray() == vtkDataObject::FIELD_ASSOCIATION_CELLS &&
                       (vtkDataSet::SafeDownCast(input) || BlocksIn(input));
  if (!ofCells && !BlocksIn(input)) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  vtkNew<vtkPVContourFilter> contour;
  vtkNew<vtkCellDataToPointData> toPoints;
  contour->SetInputArrayToProcess(0, 0, 0,
      ofCells ? vtkDataObject::FIELD_ASSOCIATION_POINTS : this->AssociationOfArray(),
      this->NameOfArray().c_str());
  if (ofCells) {
    toPoints->SetInputDataObject(input);
    contour->SetInputConnection(toPoints->GetOutputPort());
  } else {
    contour->SetInputDataObject(input);
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
  vtkInformation* const wanted = outputs->GetInformationObject(0);
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  contour->UpdatePiece(wanted->Get(Pipeline::UPDATE_PIECE_NUMBER()),
      wanted->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()),
      wanted->Get(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS()));
  vtkDataObject::GetData(outputs)->ShallowCopy(contour->GetOutputDataObject(0));
  return 1;
}
