#include "vtkPatchVolume.h"

#include "Base/Communicator.h"
#include "Base/Text.h"
#include "Filters/BlockFilter.h"
#include "Filters/Image.h"
#include "Filters/VisibleSurface.h"

#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkExtentTranslator.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace patchio::filters;

namespace {

/// Returns the cells of the image that this rank fills. vtkExtentTranslator divides the image among the
/// ranks.
patchio::Box CellsOfRank(const ImageGrid& grid, const patchio::Communicator& ranks)
{
  int whole[6] = {0, grid.Cells[0], 0, grid.Cells[1], 0, grid.Cells[2]};
  int part[6] = {0, 0, 0, 0, 0, 0};
  vtkNew<vtkExtentTranslator> translator;
  translator->PieceToExtentThreadSafe(
      ranks.Rank(), ranks.Size(), 0, whole, part, vtkExtentTranslator::BLOCK_MODE, 0);
  return {{part[0], part[2], part[4]}, {part[1] - 1, part[3] - 1, part[5] - 1}};
}

/// Returns the names of the cell or point arrays of the blocks of all ranks, sorted. Collective: every rank
/// of the communicator calls it.
std::vector<std::string> ArrayNames(
    const std::vector<const Block*>& blocks, bool isPointData, patchio::Communicator& ranks)
{
  std::set<std::string> names;
  for (const Block* block : blocks) {
    vtkDataSetAttributes* const data = AttributesOf(block->Grid, isPointData);
    for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
      names.insert(data->GetArrayName(a) ? data->GetArrayName(a) : "");
    }
  }
  std::vector<std::string> all = patchio::GatherTexts(ranks, {names.begin(), names.end()});
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

vtkStandardNewMacro(vtkPatchVolume);

void vtkPatchVolume::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "MaximumCells: " << this->MaximumCells << "\n";
}

void vtkPatchVolume::AddName(const char* name, Names& names)
{
  names.emplace_back(name ? name : "");
  this->Modified();
}

void vtkPatchVolume::ClearNames(Names& names)
{
  names.clear();
  this->Modified();
}

int vtkPatchVolume::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  // Otherwise, VTK would pass one block after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPatchVolume::RequestData(vtkInformation*, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const output = vtkMultiBlockDataSet::GetData(outputs);
  return patchio::RunAndReportErrors(
      this, output, [&] { return this->MakeImage(vtkDataObject::GetData(inputs[0]), output); });
}

void vtkPatchVolume::WarnOfMissingArrays(const char* type, const Names& requested, const Names& found)
{
  for (const std::string& name : requested) {
    if (std::find(found.begin(), found.end(), name) == found.end()) {
      vtkWarningMacro("The input has no " << type << " array '" << name << "'. The " << type
                                          << " arrays are: " << patchio::NameList(found) << ".");
    }
  }
}

int vtkPatchVolume::MakeImage(vtkDataObject* input, vtkMultiBlockDataSet* output)
{
  const auto ranks = patchio::GlobalCommunicator();
  const Blocks blocks = MakeBlocks(input, *ranks);
  const std::vector<const Block*> solid = SolidBlocks(blocks);
  this->AbortExecute = 0;  // an earlier execution that the user stopped may have set the flag
  if (!patchio::AllOf(*ranks, blocks.UnsupportedClass.empty() && solid.size() == blocks.List.size())) {
    if (ranks->Rank() == 0) {
      vtkErrorMacro(
          "Volume Of Patches requires uniform or rectilinear blocks in 3-D, but the input has "
          << (blocks.UnsupportedClass.empty() ? "2-D, curvilinear or other blocks"
                                              : "unsupported blocks of the type " + blocks.UnsupportedClass)
          << ". To render a volume of these data, apply Resample To Image.");
    }
    return 1;
  }
  ImageRequest request;
  request.Grid = ChooseImageGrid(solid, static_cast<double>(this->MaximumCells), *ranks);
  request.Cells = CellsOfRank(request.Grid, *ranks);
  request.CellArrays = patchio::GatherTexts(*ranks, this->CellArrays);
  request.PointArrays = patchio::GatherTexts(*ranks, this->PointArrays);
  const Names cellArrays = ArrayNames(solid, false, *ranks);
  const Names pointArrays = ArrayNames(solid, true, *ranks);
  if (request.CellArrays.empty() && request.PointArrays.empty()) {
    request.CellArrays = cellArrays;
    request.PointArrays = pointArrays;
  }
  if (ranks->Rank() == 0) {
    this->WarnOfMissingArrays("cell", request.CellArrays, cellArrays);
    this->WarnOfMissingArrays("point", request.PointArrays, pointArrays);
  }
  request.Progress = [this](double fraction) {
    this->UpdateProgress(fraction);
    return !this->GetAbortExecute();
  };
  vtkNew<vtkImageData> part;
  FillImage(solid, request, *ranks, part);
  output->SetNumberOfBlocks(ranks->Size());
  output->SetBlock(ranks->Rank(), part->GetNumberOfCells() > 0 ? part.Get() : nullptr);
  return 1;
}
