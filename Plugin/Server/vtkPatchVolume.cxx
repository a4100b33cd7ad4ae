#include "vtkPatchVolume.h"

#include "BlockFilter.h"
#include "Extract/Image.h"
#include "Extract/VisibleSurface.h"
#include "Support/RunOnAllRanks.h"

#include <vtkExtentTranslator.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>

#include <string>
#include <vector>

using namespace patchio::extract;

namespace {

/// The cells that a rank makes of the image, as VTK divides it.
patchio::Box PartOf(const ImageGrid& grid, const patchio::Communicator& ranks)
{
  int whole[6] = {0, grid.Cells[0], 0, grid.Cells[1], 0, grid.Cells[2]};
  int part[6] = {0, 0, 0, 0, 0, 0};
  vtkNew<vtkExtentTranslator> translator;
  translator->PieceToExtentThreadSafe(
      ranks.Rank(), ranks.Size(), 0, whole, part, vtkExtentTranslator::BLOCK_MODE, 0);
  return {{part[0], part[2], part[4]}, {part[1] - 1, part[3] - 1, part[5] - 1}};
}

}  // namespace

struct vtkPatchVolume::Internals
{
  std::vector<std::string> CellArrays, PointArrays;
};

vtkStandardNewMacro(vtkPatchVolume);

vtkPatchVolume::vtkPatchVolume() : Internal(new Internals) {}

vtkPatchVolume::~vtkPatchVolume() = default;

void vtkPatchVolume::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "MaximumCells: " << this->MaximumCells << "\n";
}

void vtkPatchVolume::AddCellArray(const char* name)
{
  this->Internal->CellArrays.emplace_back(name ? name : "");
  this->Modified();
}

void vtkPatchVolume::ClearCellArrays()
{
  this->Internal->CellArrays.clear();
  this->Modified();
}

void vtkPatchVolume::AddPointArray(const char* name)
{
  this->Internal->PointArrays.emplace_back(name ? name : "");
  this->Modified();
}

void vtkPatchVolume::ClearPointArrays()
{
  this->Internal->PointArrays.clear();
  this->Modified();
}

int vtkPatchVolume::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  // Blocks come here together, and not one after another.
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

int vtkPatchVolume::RequestData(vtkInformation*, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const output = vtkMultiBlockDataSet::GetData(outputs);
  const auto ranks = patchio::AllRanks();
  const Blocks blocks = MakeBlocks(vtkDataObject::GetData(inputs[0]));
  const std::vector<const Block*> solid = SolidBlocks(blocks);
  this->AbortExecute = 0;  // that of an image that was given up
  if (!patchio::AllOf(*ranks, blocks.NotUnderstood.empty() && solid.size() == blocks.List.size())) {
    if (ranks->Rank() == 0) {
      vtkErrorMacro("Volume Of Patches takes uniform and rectilinear blocks of three dimensions, and found "
                    << (blocks.NotUnderstood.empty() ? "flat or curvilinear ones" : blocks.NotUnderstood)
                    << ". Apply Resample To Image instead");
    }
    return 1;
  }
  ImageRequest request;
  request.Grid = ChooseImageGrid(solid, static_cast<double>(this->MaximumCells), *ranks);
  request.Cells = PartOf(request.Grid, *ranks);
  request.CellArrays = this->Internal->CellArrays;
  request.PointArrays = this->Internal->PointArrays;
  request.Progress = [this](double done) {
    this->UpdateProgress(done);
    return !this->GetAbortExecute();
  };
  vtkNew<vtkImageData> part;
  FillImage(solid, request, *ranks, part);
  output->SetNumberOfBlocks(ranks->Size());
  output->SetBlock(ranks->Rank(), part->GetNumberOfCells() > 0 ? part.Get() : nullptr);
  return 1;
}
