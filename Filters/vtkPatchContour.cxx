#include "vtkPatchContour.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Filters/BlockFilter.h"
#include "Filters/ContourOutput.h"

#include <fmt/format.h>
#include <vtkAbstractArray.h>
#include <vtkCellDataToPointData.h>
#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkContourFilter.h>
#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

using namespace patchio::filters;

vtkStandardNewMacro(vtkPatchContour);

vtkPatchContour::vtkPatchContour()
{
  this->Values->SetValue(0, 0.0);
  this->SetInputArrayToProcess(
      0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, vtkDataSetAttributes::SCALARS);
}

void vtkPatchContour::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  this->Values->PrintSelf(os, indent);
  os << indent << "ComputeScalars: " << this->ComputeScalars << "\n"
     << indent << "ComputeNormals: " << this->ComputeNormals << "\n"
     << indent << "ComputeGradients: " << this->ComputeGradients << "\n"
     << indent << "DoublePoints: " << this->DoublePoints << "\n";
}

vtkMTimeType vtkPatchContour::GetMTime()
{
  return std::max(this->Superclass::GetMTime(), this->Values->GetMTime());
}

int vtkPatchContour::ComponentsOf(vtkDataObject* input, int association, const char* name)
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
  vtkAbstractArray* const array = arrays ? arrays->GetAbstractArray(name) : nullptr;
  return array ? array->GetNumberOfComponents() : 0;
}

bool vtkPatchContour::SupportsProperties()
{
  return !patchio::GetArrayToProcess(*this).Name.empty();
}

bool vtkPatchContour::FillOutput(const Blocks& blocks, patchio::Communicator& ranks, vtkDataObject* output)
{
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  // A rank without blocks does not know the number of components.
  int components = 0;
  for (std::size_t b = 0; b < blocks.List.size() && components == 0; ++b) {
    components = ComponentsOf(blocks.List[b].Grid, array.Association, array.Name.c_str());
  }
  if (!patchio::AllOf(ranks, components <= 1)) {
    return false;
  }
  if (array.OfCells()) {
    const vtkSmartPointer<vtkPolyData> contour = this->ContourBlocks(
        blocks, [this](double fraction) { return this->ReportProgress(fraction); }, ranks);
    if (contour) {
      patchio::SetChildren({"contour"}, {contour}, output);
    }
    return contour;
  }
  if (!FindUnsupportedReason(blocks, array.Name, true, ranks).empty()) {
    return false;
  }
  // The ranks may have different numbers of children, because partitions belong to a rank.
  const auto children = static_cast<int>(ranks.Max({static_cast<double>(blocks.ChildNames.size())})[0]);
  std::vector<vtkSmartPointer<vtkPolyData>> contours;
  for (int p = 0; p < children; ++p) {
    Blocks ofChild;
    std::copy_if(blocks.List.begin(), blocks.List.end(), std::back_inserter(ofChild.List),
        [p](const Block& block) { return block.Child == p; });
    const vtkSmartPointer<vtkPolyData> contour = this->ContourBlocks(
        ofChild, [&](double fraction) { return this->ReportProgress((p + fraction) / children); }, ranks);
    contours.push_back(contour ? contour : vtkSmartPointer<vtkPolyData>::New());
  }
  patchio::SetChildren(blocks.ChildNames, contours, output);
  return true;
}

/// Returns this rank's part of the contour of `blocks`; null on all ranks if the blocks or their arrays are
/// not supported. Collective: every rank of the communicator calls it.
vtkSmartPointer<vtkPolyData> vtkPatchContour::ContourBlocks(
    const Blocks& blocks, const patchio::ProgressCallback& progress, patchio::Communicator& ranks)
{
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  CellSet cells = MakeCellSet(blocks, array.Name, !array.OfCells(), ranks);
  if (!cells.UnsupportedReason.empty()) {
    return nullptr;
  }
  ContourOptions options;
  for (int i = 0; i < this->GetNumberOfContours(); ++i) {
    options.Values.push_back(this->GetValue(i));
  }
  options.Scalars = this->ComputeScalars;
  options.Normals = this->ComputeNormals && cells.FlatAxis < 0;
  options.Gradients = this->ComputeGradients;
  options.DoublePoints = this->DoublePoints;
  if (array.OfCells() || options.Normals || options.Gradients) {
    AddRemoteCells(cells, options.Normals || options.Gradients, ranks);
  }
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  if (!patchio::AllOf(ranks, lattice.Error().empty() && DualCells::CanNumber(lattice))) {
    return nullptr;
  }
  const Contour contour = MakeContour(lattice, options.Values, progress);
  auto output = vtkSmartPointer<vtkPolyData>::New();
  FillPolyData(contour, lattice, cells, options, output);
  return output;
}

vtkSmartPointer<vtkAlgorithm> vtkPatchContour::MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input)
{
  const patchio::ArrayToProcess array = patchio::GetArrayToProcess(*this);
  const int components = ComponentsOf(input, array.Association, array.Name.c_str());
  if (components > 1) {
    throw patchio::Error(
        fmt::format("Contour requires an array with one component, but {} has {}. Make a "
                    "scalar array from this array with vtkArrayCalculator.",
            array.Name, components));
  }
  auto contour = vtkSmartPointer<vtkContourFilter>::New();
  contour->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, array.Name.c_str());
  contour->SetNumberOfContours(this->GetNumberOfContours());
  for (int i = 0; i < this->GetNumberOfContours(); ++i) {
    contour->SetValue(i, this->GetValue(i));
  }
  contour->SetComputeScalars(this->ComputeScalars);
  contour->SetComputeNormals(this->ComputeNormals);
  contour->SetComputeGradients(this->ComputeGradients);
  contour->SetOutputPointsPrecision(
      this->DoublePoints ? vtkAlgorithm::DOUBLE_PRECISION : vtkAlgorithm::SINGLE_PRECISION);
  if (array.OfCells()) {
    const auto toPoints = vtkSmartPointer<vtkCellDataToPointData>::New();
    toPoints->SetInputDataObject(input);
    toPoints->Update();
    input = toPoints->GetOutputDataObject(0);
  }
  return contour;
}
