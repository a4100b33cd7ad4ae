#include "PatchAssembler.h"

#include "DataArrays.h"
#include "Filters/Blocks.h"
#include "Filters/VtkVersions.h"
#include "KnownRanges.h"

#include <vtkCellData.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>

#include <algorithm>
#include <set>

namespace patchio {
namespace {

/// The flags of cells that finer patches cover. DUPLICATECELL is set because all filters support
/// DUPLICATECELL. Filters keep cells with REFINEDCELL alone in their output, and some later filters
/// (Integrate Variables) do not support REFINEDCELL. HIDDENCELL is not set: vtkCellDataToPointData would
/// ignore the values of these cells, and contours would end far from the finer level.
constexpr unsigned char Refined = vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::DUPLICATECELL;

/// Clears the marks of the points at which no component of an array is NaN. Returns false if no mark remains.
template <typename Value>
bool ClearDefinedMarks(const Value* values, int components, std::vector<unsigned char>& marks)
{
  unsigned char any = 0;
  for (unsigned char& mark : marks) {
    const bool undefined =
        std::any_of(values, values + components, [](Value value) { return value != value; });
    mark &= static_cast<unsigned char>(undefined);
    any |= mark;
    values += components;
  }
  return any != 0;
}

bool ClearDefinedMarks(vtkDataArray* array, std::vector<unsigned char>& marks)
{
  const int components = array->GetNumberOfComponents();
  if (auto* floats = vtkFloatArray::SafeDownCast(array)) {
    return ClearDefinedMarks(floats->GetPointer(0), components, marks);
  }
  auto* doubles = vtkDoubleArray::SafeDownCast(array);
  return doubles && ClearDefinedMarks(doubles->GetPointer(0), components, marks);
}

/// Returns, by point, 1 if each of these arrays has a component that is NaN at the point, otherwise 0.
/// Returns 0 for all points if `arrays` is empty.
std::vector<unsigned char> UndefinedPoints(vtkIdType points, const std::vector<vtkDataArray*>& arrays)
{
  std::vector<unsigned char> undefined(points, arrays.empty() ? 0 : 1);
  for (vtkDataArray* array : arrays) {
    if (!ClearDefinedMarks(array, undefined)) {
      return std::vector<unsigned char>(points, 0);
    }
  }
  return undefined;
}

/// Returns whether a cell in the box `cells` has no flag. `flags`: flags of the cells in the box `grid`.
bool HasVisibleCell(const Box& grid, const Box& cells, const unsigned char* flags)
{
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      const unsigned char* row = flags + IndexIn(grid, {cells.Lower[0], j, k});
      if (std::find(row, row + cells.Width(0), 0) != row + cells.Width(0)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

/// Returns whether all cells of the block are visible: the block has no gap, and no finer patch and no other
/// patch of the level may hide cells of the block.
bool CellFlags::IsWholeBlockVisible(const Block& block) const
{
  return block.Full && std::none_of(block.Parts.begin(), block.Parts.end(), [this](const OwnedBox& part) {
    return this->PatchNesting.HasUnownedCells(part.Owner) ||
           (this->Options.HideRefined && !this->PatchNesting.ChildrenOf(part.Owner, part.Cells).empty());
  });
}

vtkSmartPointer<vtkUnsignedCharArray> CellFlags::FlagsOf(const Block& block, const Box& cells) const
{
  const bool grown = !(cells == block.Cells);
  const bool layers = grown || this->GhostLayer;
  if (!layers && this->IsWholeBlockVisible(block)) {
    return nullptr;
  }
  auto flags = vtkSmartPointer<vtkUnsignedCharArray>::New();
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  SetTuples(cells.CellCount(), flags, this->Data.NodesOf(block.Level, cells).CellCount());
  flags->FillValue(block.Full && !layers ? 0 : vtkDataSetAttributes::HIDDENCELL);
  unsigned char* const values = flags->GetPointer(0);
  if (layers) {
    this->MarkGhostLayers(block, cells, values);
  }
  bool hides = !block.Full || grown;
  for (const OwnedBox& part : block.Parts) {
    if (!block.Full || layers) {
      MarkBox(cells, part.Cells, 0, values);
    }
    hides = this->MarkDuplicateCells(part, cells, values) || hides;
    hides = this->MarkRefined(part, cells, values) || hides;
  }
  if (block.Origin == CutFrom::BlockWithGaps) {
    this->HideRefined(block, cells, values);
  }
  if (this->GhostLayer || block.Origin == CutFrom::BlockWithoutGaps) {
    this->ConvertBorderToGhosts(cells, values);
  }
  if (!hides) {
    return nullptr;
  }
  ComputeRange(flags);
  return flags;
}

bool CellFlags::MayHideCells(const std::vector<Block>& blocks) const
{
  if (this->Options.Ghosts != Int3{0, 0, 0} || this->GhostLayer) {
    return true;
  }
  std::set<int> levels;
  for (const Block& block : blocks) {
    if (!block.Full || std::any_of(block.Parts.begin(), block.Parts.end(), [this](const OwnedBox& part) {
          return this->PatchNesting.HasUnownedCells(part.Owner);
        })) {
      return true;
    }
    if (this->Data.RoleOf(block.Level) == LevelRole::Refinement) {
      levels.insert(block.Level);
    }
  }
  return this->Options.HideRefined && levels.size() > 1;
}

/// Marks the cells of a part that other patches of the level show, so that filters draw and count the cells
/// of overlapping patches once. Returns false if the part has no such cells, or is not a whole patch, because
/// parts of merged blocks do not overlap. `grid`: box of the cells of `flags`.
bool CellFlags::MarkDuplicateCells(const OwnedBox& part, const Box& grid, unsigned char* flags) const
{
  if (!this->PatchNesting.HasUnownedCells(part.Owner) ||
      !(part.Cells == this->Data.Patches[part.Owner].Cells)) {
    return false;
  }
  MarkBox(grid, part.Cells, vtkDataSetAttributes::DUPLICATECELL, flags);
  for (const Box& own : this->PatchNesting.OwnedCells(part.Owner)) {
    MarkBox(grid, own, 0, flags);
  }
  return true;
}

/// If Options.HideRefined is true, marks the cells of a part that finer patches cover. Returns whether a cell
/// was marked. `grid`: box of the cells of `flags`.
bool CellFlags::MarkRefined(const OwnedBox& part, const Box& grid, unsigned char* flags) const
{
  const std::vector<std::uint8_t> covered = this->Options.HideRefined
                                                ? this->PatchNesting.CoveredCells(part.Owner, part.Cells)
                                                : std::vector<std::uint8_t>();
  if (covered.empty()) {
    return false;
  }
  bool found = false;
  const std::uint8_t* from = covered.data();
  for (int k = part.Cells.Lower[2]; k <= part.Cells.Upper[2]; ++k) {
    for (int j = part.Cells.Lower[1]; j <= part.Cells.Upper[1]; ++j) {
      unsigned char* to = flags + IndexIn(grid, {part.Cells.Lower[0], j, k});
      for (int i = part.Cells.Lower[0]; i <= part.Cells.Upper[0]; ++i, ++from, ++to) {
        *to = *from ? Refined : *to;
        found = found || *from;
      }
    }
  }
  return found;
}

/// Marks the refined cells of the ghost regions, and adds HIDDENCELL to all refined cells. Filters then
/// ignore these cells, as in the block with gaps that this block was cut from.
void CellFlags::HideRefined(const Block& block, const Box& grid, unsigned char* flags) const
{
  for (const Region& region : block.GhostRegions) {
    this->MarkRefined({region.Cells, region.Owner}, grid, flags);
  }
  std::replace(flags, flags + grid.CellCount(), Refined,
      static_cast<unsigned char>(Refined | vtkDataSetAttributes::HIDDENCELL));
}

/// Marks refined cells next to visible cells as ghost cells. Neighbouring blocks have the same cells as ghost
/// cells in their ghost layers, and node values that filters compute from cells must be equal in all blocks.
/// (vtkCellDataToPointData uses ghost cells, but uses refined cells only if the grid has no hidden cell.)
void CellFlags::ConvertBorderToGhosts(const Box& grid, unsigned char* flags) const
{
  for (int k = grid.Lower[2]; k <= grid.Upper[2]; ++k) {
    for (int j = grid.Lower[1]; j <= grid.Upper[1]; ++j) {
      for (int i = grid.Lower[0]; i <= grid.Upper[0]; ++i) {
        unsigned char& flag = flags[IndexIn(grid, {i, j, k})];
        if (flag == Refined &&
            HasVisibleCell(grid, Intersect(grid, {{i - 1, j - 1, k - 1}, {i + 1, j + 1, k + 1}}), flags)) {
          flag = vtkDataSetAttributes::DUPLICATECELL;
        }
      }
    }
  }
}

/// Marks all cells as cells of ghost layers; FlagsOf() then clears the marks of the block's parts. Ghost
/// cells that repeat cells of a shown patch are duplicates, which connect the blocks. Other ghost cells,
/// mostly beyond the domain, are also hidden. Otherwise, the surface of the domain would lie inside the grid,
/// and VTK would not draw the surface.
void CellFlags::MarkGhostLayers(const Block& block, const Box& cells, unsigned char* flags) const
{
  if (this->Options.Ghosts == Int3{0, 0, 0}) {
    std::fill_n(flags, cells.CellCount(),
        static_cast<unsigned char>(vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::HIDDENCELL));
    for (const Region& region : block.GhostRegions) {
      MarkBox(cells, region.Cells, vtkDataSetAttributes::DUPLICATECELL, flags);
    }
    return;
  }
  // If the ghost layers come from the files, each block is one patch.
  const std::vector<std::uint8_t> shared =
      this->PatchNesting.SharedCells(block.Parts[0].Owner, this->Options.Ghosts);
  for (std::size_t cell = 0; cell < shared.size(); ++cell) {
    const int hidden = shared[cell] ? 0 : vtkDataSetAttributes::HIDDENCELL;
    flags[cell] = static_cast<unsigned char>(vtkDataSetAttributes::DUPLICATECELL | hidden);
  }
}

void HideUndefinedPoints(vtkDataSet* grid, const std::vector<vtkDataArray*>& arrays)
{
  const std::vector<unsigned char> undefined = UndefinedPoints(grid->GetNumberOfPoints(), arrays);
  vtkNew<vtkUnsignedCharArray> points;
  points->SetName(vtkDataSetAttributes::GhostArrayName());
  points->SetNumberOfTuples(grid->GetNumberOfPoints());
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    points->SetValue(i, undefined[i] ? vtkDataSetAttributes::HIDDENPOINT : 0);
  }
  ComputeRange(points);
  grid->GetPointData()->AddArray(points);
  // This array is a copy, because the grids of other steps may share the flags.
  vtkNew<vtkUnsignedCharArray> cells;
  cells->SetName(vtkDataSetAttributes::GhostArrayName());
  SetTuples(grid->GetNumberOfCells(), cells, grid->GetNumberOfPoints());
  if (vtkUnsignedCharArray* const before = grid->GetCellGhostArray()) {
    std::copy_n(before->GetPointer(0), grid->GetNumberOfCells(), cells->GetPointer(0));
  } else {
    cells->FillValue(0);
  }
  filters::HideCellsAtHiddenPoints(DimensionsOf(grid), points->GetPointer(0), cells->GetPointer(0));
  ComputeRange(cells);
  grid->GetCellData()->AddArray(cells);
}

}  // namespace patchio
