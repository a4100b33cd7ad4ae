#include "AmrOutput.h"

#include "Filters/VtkVersions.h"

#include <vtkAMRBox.h>
#include <vtkCompositeDataPipeline.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkOverlappingAMR.h>
#include <vtkSmartPointer.h>
#include <vtkStructuredData.h>
#include <vtkUniformGrid.h>

#include <algorithm>

namespace patchio {
namespace {

/// A patch in the output, on any rank.
struct AmrPatch
{
  const Block* SourceBlock;
  unsigned int PieceIndex;  ///< index of the patch's grid in the level of the tree
};

using AmrLevels = std::vector<std::vector<AmrPatch>>;

/// Returns the shown patches of all levels, without empty levels at the end. `shown`: by patch, true if the
/// patch is shown.
AmrLevels PatchesOfLevels(
    const Catalog& catalog, const std::vector<Block>& blocks, const std::vector<bool>& shown)
{
  AmrLevels levels(catalog.Levels.size());
  std::vector<unsigned int> pieces(levels.size(), 0);
  for (const Block& block : blocks) {
    const unsigned int piece = pieces[block.Level]++;
    if (shown[block.Parts[0].Owner]) {
      levels[block.Level].push_back({&block, piece});
    }
  }
  while (!levels.empty() && levels.back().empty()) {
    levels.pop_back();
  }
  return levels;
}

/// Returns, by level, the indices on the level at which the AMR data begin: the lower corner of a cell of the
/// level `first`, such that no patch has a negative index relative to these indices; 0 for levels before
/// `first`.
std::vector<Int3> LowerCorners(const Catalog& catalog, const AmrLevels& levels, std::size_t first)
{
  std::vector<Int3> corners(levels.size(), Int3{0, 0, 0});
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int> scale(levels.size(), 1);  // number of cells of the level in a cell of the first level
    int lowest = levels[first][0].SourceBlock->Cells.Lower[axis];
    for (std::size_t l = first; l < levels.size(); ++l) {
      scale[l] = l > first ? scale[l - 1] * catalog.Levels[l].Ratio[axis] : 1;
      for (const AmrPatch& patch : levels[l]) {
        lowest = std::min(lowest, FloorDivide(patch.SourceBlock->Cells.Lower[axis], scale[l]));
      }
    }
    for (std::size_t l = first; l < levels.size(); ++l) {
      corners[l][axis] = lowest * scale[l];
    }
  }
  return corners;
}

/// Returns a shallow copy of `grid` with this origin and an extent that begins at 0.
vtkSmartPointer<vtkUniformGrid> CopyWithOrigin(const double origin[3], vtkUniformGrid* grid)
{
  auto moved = vtkSmartPointer<vtkUniformGrid>::New();
  moved->ShallowCopy(grid);
  int dimensions[3];
  grid->GetDimensions(dimensions);
  moved->SetExtent(0, dimensions[0] - 1, 0, dimensions[1] - 1, 0, dimensions[2] - 1);
  moved->SetOrigin(origin);
  return moved;
}

/// Adds the boxes of the patches of a level, and their grids from `tree`, to `amr`. `corner`: see
/// LowerCorners(). `tree`: null adds no grids. `level`: number of the level in `amr`.
void FillLevel(const Catalog& catalog, const std::vector<AmrPatch>& patches, const Int3& corner,
    vtkMultiBlockDataSet* tree, unsigned int level, vtkOverlappingAMR* amr)
{
  for (unsigned int id = 0; id < patches.size(); ++id) {
    const Block& block = *patches[id].SourceBlock;
    const double* const spacing = catalog.Levels[block.Level].Spacing.data();
    double origin[3];
    int dimensions[3];
    for (int axis = 0; axis < 3; ++axis) {
      origin[axis] = amr->GetOrigin()[axis] + spacing[axis] * (block.Cells.Lower[axis] - corner[axis]);
      const int beyond = catalog.NodesBeyondCells(block.Level, axis);
      dimensions[axis] = beyond ? block.Cells.Width(axis) + beyond : 1;
    }
    amr->SetAMRBox(
        level, id, vtkAMRBox(origin, dimensions, spacing, amr->GetOrigin(), amr->GetGridDescription()));
    auto* const pieces = tree ? vtkMultiPieceDataSet::SafeDownCast(tree->GetBlock(block.Level)) : nullptr;
    if (auto* const grid =
            vtkUniformGrid::SafeDownCast(pieces ? pieces->GetPiece(patches[id].PieceIndex) : nullptr)) {
      amr->SetDataSet(level, id, CopyWithOrigin(origin, grid));
    }
  }
}

/// Returns the description of the axes of a block, such as VTK_XYZ_GRID.
int GridDescriptionOf(const Catalog& catalog, const Block& block)
{
  int dimensions[3];
  for (int axis = 0; axis < 3; ++axis) {
    dimensions[axis] = 1 + catalog.NodesBeyondCells(block.Level, axis);
  }
  return vtkStructuredData::GetDataDescription(dimensions);
}

/// Adds all levels to `amr`, see FillAmr() and FillLevel().
void FillLevels(
    const Catalog& catalog, const AmrLevels& levels, vtkMultiBlockDataSet* tree, vtkOverlappingAMR* amr)
{
  if (levels.empty()) {
    return;
  }
  const auto isEmpty = [](const std::vector<AmrPatch>& patches) { return patches.empty(); };
  const std::size_t first = std::find_if_not(levels.begin(), levels.end(), isEmpty) - levels.begin();
  std::vector<unsigned int> counts;
  for (std::size_t l = first; l < levels.size(); ++l) {
    counts.push_back(static_cast<unsigned int>(levels[l].size()));
  }
  SetBlocksPerLevel(counts, amr);
  amr->SetGridDescription(GridDescriptionOf(catalog, *levels[first][0].SourceBlock));
  const std::vector<Int3> corners = LowerCorners(catalog, levels, first);
  double origin[3];
  for (int axis = 0; axis < 3; ++axis) {
    origin[axis] = catalog.Origin[axis] + catalog.Levels[first].Spacing[axis] * corners[first][axis];
  }
  amr->SetOrigin(origin);
  for (std::size_t l = first; l < levels.size(); ++l) {
    const auto level = static_cast<unsigned int>(l - first);
    const std::size_t finer = std::min(l + 1, catalog.Levels.size() - 1);
    const Int3& ratio = catalog.Levels[finer].Ratio;
    amr->SetSpacing(level, catalog.Levels[l].Spacing.data());
    // As in VTK, the ratio of the only level is 2.
    amr->SetRefinementRatio(level, finer > 0 ? *std::max_element(ratio.begin(), ratio.end()) : 2);
    FillLevel(catalog, levels[l], corners[l], tree, level, amr);
  }
  amr->GenerateParentChildInformation();
}

}  // namespace

std::string AmrUnsupportedReason(const Catalog& catalog)
{
  if (catalog.Grid != GridType::Uniform) {
    return std::string("its grids are ") + NameOf(catalog.Grid) + ", not uniform";
  }
  const std::vector<Level>& levels = catalog.Levels;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (levels[l].Role == LevelRole::Points || (levels[l].Role == LevelRole::Separate && levels.size() > 1)) {
      return "its grids \"" + catalog.NameOfLevel(static_cast<int>(l)) + "\" are not a refinement level";
    }
    int flat = 0, ratio = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (!catalog.NodesBeyondCells(static_cast<int>(l), axis)) {
        ++flat;
      } else if (ratio && levels[l].Ratio[axis] != ratio) {
        return catalog.NameOfLevel(static_cast<int>(l)) + " has different refinement ratios along its axes";
      } else {
        ratio = levels[l].Ratio[axis];
      }
    }
    if (flat > 1) {
      return "it has fewer than two dimensions";
    }
  }
  return {};
}

std::string AmrUnsupportedMessage(const Catalog& catalog)
{
  const std::string reason = AmrUnsupportedReason(catalog);
  return reason.empty() ? reason
                        : "PatchIO cannot show " + catalog.Path + " as Overlapping AMR, because " + reason +
                              ". Set Blocks to Merged or As patches, which output a multiblock data set.";
}

void SetOutputType(bool isAmr, vtkInformation* output)
{
  vtkDataObject* const before = output->Get(vtkDataObject::DATA_OBJECT());
  if (isAmr && !vtkOverlappingAMR::SafeDownCast(before)) {
    output->Set(vtkDataObject::DATA_OBJECT(), vtkNew<vtkOverlappingAMR>());
  } else if (!isAmr && !vtkMultiBlockDataSet::SafeDownCast(before)) {
    output->Set(vtkDataObject::DATA_OBJECT(), vtkNew<vtkMultiBlockDataSet>());
  }
}

void DescribeAmr(const Catalog& catalog, const StepOptions& options, vtkInformation* output)
{
  output->Remove(vtkCompositeDataPipeline::COMPOSITE_DATA_META_DATA());
  if (!vtkOverlappingAMR::GetData(output)) {
    return;
  }
  vtkNew<vtkOverlappingAMR> amr;
  const std::vector<bool> shown = ShownPatches(catalog, options).PatchesInRegion();
  std::vector<int> patches;
  for (std::size_t p = 0; p < shown.size(); ++p) {
    if (shown[p]) {
      patches.push_back(static_cast<int>(p));
    }
  }
  const std::vector<Block> blocks = BlocksOfPatches(catalog, patches);
  FillLevels(catalog, PatchesOfLevels(catalog, blocks, shown), nullptr, amr);
  output->Set(vtkCompositeDataPipeline::COMPOSITE_DATA_META_DATA(), amr);
}

void FillAmr(const LoadedStep& loaded, vtkMultiBlockDataSet* tree, vtkOverlappingAMR* amr)
{
  const Catalog& catalog = loaded.Data();
  amr->GetFieldData()->ShallowCopy(tree->GetFieldData());
  FillLevels(catalog, PatchesOfLevels(catalog, loaded.Plan.Blocks, loaded.Patches.Flags()), tree, amr);
}

}  // namespace patchio
