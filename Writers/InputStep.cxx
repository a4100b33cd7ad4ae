#include "InputStep.h"

#include "ArraysToWrite.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Catalog/Box.h"
#include "Catalog/Nesting.h"
#include "Formats/Container/StepLayout.h"
#include "InputTree.h"
#include "Plan/BoxCover.h"
#include "Plan/Interest.h"

#include <fmt/format.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchio {
namespace {

/// The cells of a grid that the writer writes.
struct CellsToWrite
{
  std::vector<Box> Boxes;   ///< disjoint; empty: the writer writes no cell
  bool NeedsFlags = false;  ///< true: the omitted cells are too scattered for boxes, so the writer writes all
                            ///< cells and their flags
};

/// A flag in addition to VTK's flags: a refined cell that no written finer level covers. The reader would not
/// hide this cell.
constexpr unsigned char UncoveredCell = 1 << 6;

/// The meaning of the flags of a block.
struct FlagMeaning
{
  /// True: the writer writes duplicate cells within the block, because the duplicates are cells that another
  /// patch also has.
  bool IsWholePatch = false;
  /// True: the block is part of AMR data, whose duplicates are all ghost cells. False: a cell that is a
  /// duplicate and refined may be a refined cell of PatchIO's reader.
  bool IsAmrBlock = false;
};

/// More than MaxBoxes boxes with fewer than MinCellsPerBox cells each, on average, would make reading slow.
constexpr std::size_t MaxBoxes = 64;
constexpr std::int64_t MinCellsPerBox = 512;

/// Returns, by the value of the flags of a cell, whether the writer writes the cell. `flags`: flags of the
/// cells in the box `cells`. `isAmrBlock`: see FlagMeaning.
std::array<bool, 256> WrittenFlags(const Box& cells, const unsigned char* flags, bool isAmrBlock)
{
  const unsigned char* const end = flags + cells.CellCount();
  const bool ghosts = isAmrBlock || std::any_of(flags, end, [](unsigned char flag) {
    return (flag & vtkDataSetAttributes::REFINEDCELL) && !(flag & vtkDataSetAttributes::DUPLICATECELL);
  });
  std::array<bool, 256> isWritten;
  for (int flag = 0; flag < 256; ++flag) {
    const bool refined = (flag & vtkDataSetAttributes::REFINEDCELL) != 0;
    const bool duplicate = (flag & vtkDataSetAttributes::DUPLICATECELL) != 0;
    const bool hidden = (flag & vtkDataSetAttributes::HIDDENCELL) != 0;
    isWritten[flag] =
        (flag & UncoveredCell) == 0 && (refined ? !(ghosts && duplicate) : !duplicate && !hidden);
  }
  return isWritten;
}

/// Returns the runs of written cells along axis 0.
std::vector<OwnedBox> RunsOf(
    const Box& cells, const unsigned char* flags, const std::array<bool, 256>& isWritten)
{
  std::vector<OwnedBox> runs;
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {cells.Lower[0], j, k});
      const int width = static_cast<int>(cells.Width(0));
      for (int i = 0; i < width;) {
        const int first = i;
        for (; i < width && isWritten[row[i]]; ++i) {
        }
        if (i > first) {
          runs.push_back({{{cells.Lower[0] + first, j, k}, {cells.Lower[0] + i - 1, j, k}}, 0});
        }
        i += i == first ? 1 : 0;
      }
    }
  }
  return runs;
}

/// Returns the smallest box around the boxes.
Box BoundsOf(const std::vector<OwnedBox>& boxes)
{
  Box bounds = boxes.front().Cells;
  for (const OwnedBox& box : boxes) {
    for (int axis = 0; axis < 3; ++axis) {
      bounds.Lower[axis] = std::min(bounds.Lower[axis], box.Cells.Lower[axis]);
      bounds.Upper[axis] = std::max(bounds.Upper[axis], box.Cells.Upper[axis]);
    }
  }
  return bounds;
}

/// Returns whether a cell in the box `part` has the flag HIDDENCELL or UncoveredCell and is not written.
bool HasHiddenCell(
    const Box& cells, const Box& part, const unsigned char* flags, const std::array<bool, 256>& isWritten)
{
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {part.Lower[0], j, k});
      for (std::int64_t i = 0; i < part.Width(0); ++i) {
        if (!isWritten[row[i]] && (row[i] & (vtkDataSetAttributes::HIDDENCELL | UncoveredCell))) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Returns the cells to write. The writer writes refined cells, because the reader hides these cells again.
/// The writer omits other hidden cells and duplicates (ghost layers, gaps between the patches of a merged
/// block, cells that the user has hidden), and cells with the flag UncoveredCell.
///
/// `flags`: flags of vtkDataSetAttributes and UncoveredCell, one value per cell of the box `cells`, axis 0
/// fastest; null: no flag is set.
CellsToWrite FindCellsToWrite(const Box& cells, const unsigned char* flags, FlagMeaning meaning)
{
  if (!flags) {
    return {{cells}, false};
  }
  const std::array<bool, 256> isWritten = WrittenFlags(cells, flags, meaning.IsAmrBlock);
  const std::vector<OwnedBox> runs = RunsOf(cells, flags, isWritten);
  if (runs.empty()) {
    return {};
  }
  std::int64_t writtenCells = 0;
  for (const OwnedBox& run : runs) {
    writtenCells += run.Cells.Width(0);
  }
  const Box bounds = BoundsOf(runs);
  if (writtenCells == bounds.CellCount() ||
      (meaning.IsWholePatch && !HasHiddenCell(cells, bounds, flags, isWritten))) {
    return {{bounds}, false};
  }
  CoverOptions options;
  options.MostCells = std::int64_t(1) << 40;
  options.BoxCostInCells = 0;
  CellsToWrite result;
  for (const CoverBox& box : CoverBoxes(runs, {}, options)) {
    result.Boxes.push_back(box.Cells);
  }
  if (result.Boxes.size() > MaxBoxes &&
      writtenCells / static_cast<std::int64_t>(result.Boxes.size()) < MinCellsPerBox) {
    return {{cells}, true};
  }
  return result;
}

/// The names of the field data that the writer skips without a note, because the reader or ParaView adds
/// these field data again.
constexpr const char* KnownFieldData[] = {
    "time", "step", "date", "level", "patch", "rank", "levels", "TimeValue"};

/// Adds to `notes` a message about each array of field data that the writer skips.
void AddFieldDataNotes(vtkDataSet* grid, std::set<std::string>& notes)
{
  vtkFieldData* const data = grid->GetFieldData();
  for (int i = 0; data && i < data->GetNumberOfArrays(); ++i) {
    const char* const name = data->GetArrayName(i);
    if (name && std::find(std::begin(KnownFieldData), std::end(KnownFieldData), std::string(name)) ==
                    std::end(KnownFieldData)) {
      notes.insert(fmt::format(
          "The writer skips the field data '{}', because PatchIO containers do not support field data.",
          PlainText(name)));
    }
  }
}

/// Sets the origin and the spacing. Throws Error if the axes are rotated, or if the origin or the spacing is
/// not valid.
void DescribeUniformGrid(vtkImageData* grid, GridPiece& piece)
{
  grid->GetOrigin(piece.Origin.data());
  grid->GetSpacing(piece.Spacing.data());
  if (!grid->GetDirectionMatrix()->IsIdentity()) {
    throw Error(
        "The data have an image with rotated axes (a direction matrix), which PatchIO containers do not "
        "support. Apply Resample To Image first.");
  }
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat = (piece.FlatAxes >> axis & 1) != 0;
    piece.Spacing[axis] = flat && !(piece.Spacing[axis] > 0) ? 1 : piece.Spacing[axis];
    if (!(piece.Spacing[axis] > 0) || !std::isfinite(piece.Spacing[axis]) ||
        !std::isfinite(piece.Origin[axis])) {
      throw Error(
          fmt::format("The data have an image with the cell size {} and the origin {} along axis {}, which "
                      "PatchIO containers do not support. Set a positive cell size and a finite origin.",
              piece.Spacing[axis], piece.Origin[axis], axis));
    }
  }
}

/// Sets the positions of the axes and the labels of axis 2. Throws Error if positions are missing or do not
/// increase.
void DescribeRectilinearGrid(vtkRectilinearGrid* grid, GridPiece& piece)
{
  vtkDataArray* const coordinates[] = {
      grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()};
  int extent[6];
  grid->GetExtent(extent);
  for (int axis = 0; axis < 3; ++axis) {
    Axis& to = piece.Axes[axis];
    to.First = extent[2 * axis];
    const vtkIdType count = extent[2 * axis + 1] - extent[2 * axis] + 1;
    if (!coordinates[axis] || coordinates[axis]->GetNumberOfTuples() < count) {
      throw Error(fmt::format(
          "The data have a rectilinear grid with {} points along axis {}, but fewer positions. Set a "
          "position for each point.",
          count, axis));
    }
    for (vtkIdType i = 0; i < count; ++i) {
      to.Positions.push_back(coordinates[axis]->GetTuple1(i));
    }
    if (std::adjacent_find(to.Positions.begin(), to.Positions.end(), std::greater_equal<>()) !=
        to.Positions.end()) {
      throw Error(
          fmt::format("The data have a rectilinear grid whose positions along axis {} do not increase, which "
                      "PatchIO containers do not support. Correct the positions.",
              axis));
    }
  }
  vtkDataArray* const labels = grid->GetFieldData()->GetArray("levels");
  if (labels && labels->GetNumberOfValues() == static_cast<vtkIdType>(piece.Axes[2].Positions.size())) {
    for (vtkIdType i = 0; i < labels->GetNumberOfValues(); ++i) {
      piece.Axes[2].Labels.push_back(labels->GetTuple1(i));
    }
  }
}

/// Sets IsPlane and adds the array of the node positions. Throws Error if positions are missing.
void DescribeCurvilinearGrid(vtkStructuredGrid* grid, GridPiece& piece)
{
  vtkDataArray* const points = grid->GetPoints()->GetData();
  const std::int64_t count = NodesOf(piece, piece.Whole).CellCount();
  if (points->GetNumberOfTuples() < count) {
    throw Error(
        fmt::format("The data have a curvilinear grid with {} points, but {} positions. Set a position for "
                    "each point.",
            count, points->GetNumberOfTuples()));
  }
  piece.IsPlane = (piece.FlatAxes & 4) != 0;
  for (vtkIdType i = 0; piece.IsPlane && i < points->GetNumberOfTuples(); ++i) {
    piece.IsPlane = points->GetComponent(i, 2) == 0;
  }
  piece.Arrays.push_back({"Coords", Centering::Node, 3, TypeToWrite(points), false, false, true});
}

/// Sets the grid type and the geometry of a piece from a structured grid. Throws Error for other grids.
void DescribeGeometry(vtkDataSet* grid, GridPiece& piece)
{
  int extent[6] = {0, -1, 0, -1, 0, -1};
  if (auto* image = vtkImageData::SafeDownCast(grid)) {
    image->GetExtent(extent);
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(grid)) {
    piece.Type = GridType::Rectilinear;
    rectilinear->GetExtent(extent);
  } else if (auto* curvilinear = vtkStructuredGrid::SafeDownCast(grid)) {
    piece.Type = GridType::Curvilinear;
    curvilinear->GetExtent(extent);
  } else {
    throw Error(
        fmt::format("The data have a {}, which PatchIO containers do not support. Save it in another format, "
                    "or apply Resample To Image first.",
            grid->GetClassName()));
  }
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat = extent[2 * axis] == extent[2 * axis + 1];
    piece.FlatAxes |= flat ? std::uint64_t(1) << axis : 0;
    piece.Cells.Lower[axis] = extent[2 * axis];
    piece.Cells.Upper[axis] = extent[2 * axis + 1] - (flat ? 0 : 1);
  }
  piece.Whole = piece.Cells;
  if (piece.Type == GridType::Uniform) {
    DescribeUniformGrid(vtkImageData::SafeDownCast(grid), piece);
  } else if (piece.Type == GridType::Rectilinear) {
    DescribeRectilinearGrid(vtkRectilinearGrid::SafeDownCast(grid), piece);
  } else {
    DescribeCurvilinearGrid(vtkStructuredGrid::SafeDownCast(grid), piece);
  }
}

/// Returns the values of an array of flags; an empty list if `array` is null.
std::vector<unsigned char> FlagsOf(vtkUnsignedCharArray* array)
{
  return array ? std::vector<unsigned char>(
                     array->GetPointer(0), array->GetPointer(0) + array->GetNumberOfTuples())
               : std::vector<unsigned char>();
}

/// Returns the bits that are set in any of the flags.
unsigned char UnionOf(const std::vector<unsigned char>& flags)
{
  unsigned char all = 0;
  for (const unsigned char flag : flags) {
    all |= flag;
  }
  return all;
}

/// Returns the numbers of the hidden points of a grid.
std::vector<vtkIdType> HiddenPointsOf(vtkDataSet* grid)
{
  std::vector<vtkIdType> hidden;
  vtkUnsignedCharArray* const flags = grid->GetPointGhostArray();
  for (vtkIdType point = 0; flags && point < grid->GetNumberOfPoints(); ++point) {
    if (flags->GetValue(point) & vtkDataSetAttributes::HIDDENPOINT) {
      hidden.push_back(point);
    }
  }
  return hidden;
}

/// Returns whether the grid is rectilinear and has hidden points, and all its selected point arrays are NaN
/// at each of the points `hidden`. The reader then hides these points again, and the cells around them.
bool HidesUndefined(
    vtkDataSet* grid, const std::vector<vtkIdType>& hidden, const std::vector<ArrayDescription>& selected)
{
  if (!vtkRectilinearGrid::SafeDownCast(grid) || hidden.empty()) {
    return false;
  }
  bool found = false;
  for (const ArrayDescription& description : selected) {
    if (description.Center != Centering::Node) {
      continue;
    }
    found = true;
    const vtkSmartPointer<vtkDataArray> array = ArrayOf(grid, description);
    for (const vtkIdType point : hidden) {
      const double* const values = array->GetTuple(point);
      if (std::none_of(values, values + array->GetNumberOfComponents(),
              [](double value) { return std::isnan(value); })) {
        return false;
      }
    }
  }
  return found;
}

/// Clears HIDDENCELL in the flags of the cells around the points `hidden`. `flags`: flags of all cells; may
/// be empty.
void ShowCellsAtHiddenPoints(
    vtkDataSet* grid, const std::vector<vtkIdType>& hidden, std::vector<unsigned char>& flags)
{
  vtkNew<vtkIdList> cells;
  for (std::size_t h = 0; !flags.empty() && h < hidden.size(); ++h) {
    grid->GetPointCells(hidden[h], cells);
    for (vtkIdType c = 0; c < cells->GetNumberOfIds(); ++c) {
      flags[cells->GetId(c)] &= static_cast<unsigned char>(~vtkDataSetAttributes::HIDDENCELL);
    }
  }
}

/// Adds the ghost flags of cells or points as the array FlagsName, and a message about this array to `notes`.
void AddFlagArray(Centering center, GridPiece& piece, std::set<std::string>& notes)
{
  const auto isFlagArray = [center](const ArrayDescription& array) {
    return array.Name == FlagsName && array.Center == center;
  };
  if (std::none_of(piece.Arrays.begin(), piece.Arrays.end(), isFlagArray)) {
    piece.Arrays.push_back({FlagsName, center, 1, ElementType::UInt8, false, false, false});
  }
  notes.insert(
      fmt::format("PatchIO containers do not support the flags that hide some {0}. These {0} become visible, "
                  "and the flags become the array '{1}'. To hide the {0} again, apply Threshold.",
          center == Centering::Cell ? "cells" : "points", FlagsName));
}

/// Throws Error for a merged block of PatchIO's reader with a layer of neighbours' cells, because the flags
/// of the block do not distinguish cells of the layer from refined cells.
void CheckGhostLayers(const std::vector<unsigned char>& flags, FlagMeaning meaning, const GridPiece& piece)
{
  const bool merged = piece.Level >= 0 && !meaning.IsAmrBlock && !meaning.IsWholePatch;
  if (merged && std::find(flags.begin(), flags.end(), vtkDataSetAttributes::DUPLICATECELL) != flags.end()) {
    throw Error(
        "PatchIO containers do not support merged blocks with ghost layers. Turn off Add Ghost Layer in "
        "the reader, or set Blocks to As patches.");
  }
}

/// Sets piece.Hides, and adds the selected arrays of a grid to piece.Arrays, also the flags if the writer
/// must write the flags as an array. Returns the boxes of the pieces. `flagsToUse`: `flags` of PiecesOf().
/// Throws Error for unsupported arrays or ghost layers.
std::vector<Box> DescribeArrays(vtkDataSet* grid, const std::vector<unsigned char>& flagsToUse,
    const ArrayChoice& isSelected, GridPiece& piece, std::set<std::string>& notes)
{
  const bool isAmr = piece.Hides;
  const std::vector<ArrayDescription> arrays = ArraysOf(grid, isSelected, notes);
  piece.Arrays.insert(piece.Arrays.end(), arrays.begin(), arrays.end());
  if (piece.Mesh.Points > 0) {
    return {piece.Cells};  // the flags of a mesh are mesh arrays
  }
  std::vector<unsigned char> flags = flagsToUse.empty() ? FlagsOf(grid->GetCellGhostArray()) : flagsToUse;
  const std::vector<vtkIdType> hiddenPoints = HiddenPointsOf(grid);
  if (HidesUndefined(grid, hiddenPoints, piece.Arrays)) {
    for (ArrayDescription& array : piece.Arrays) {
      array.HidesUndefined = array.Center == Centering::Node;
    }
    ShowCellsAtHiddenPoints(grid, hiddenPoints, flags);
  } else if (!hiddenPoints.empty()) {
    AddFlagArray(Centering::Node, piece, notes);
  }
  const unsigned char any = UnionOf(flags);
  piece.Hides = piece.Hides || (any & vtkDataSetAttributes::REFINEDCELL);
  if (piece.Type == GridType::Curvilinear && (any & vtkDataSetAttributes::REFINEDCELL)) {
    AddFlagArray(Centering::Cell, piece, notes);  // indices do not show which blocks refine other blocks
  }
  const FlagMeaning meaning{NumberInFieldData(grid, "patch", -1) >= 0, isAmr};
  CheckGhostLayers(flags, meaning, piece);
  const CellsToWrite toWrite = FindCellsToWrite(piece.Cells, any ? flags.data() : nullptr, meaning);
  if (toWrite.NeedsFlags) {
    AddFlagArray(Centering::Cell, piece, notes);
  } else if ((any & vtkDataSetAttributes::HIDDENCELL) && piece.Level < 0) {
    notes.insert("The writer skips hidden cells. The visible cells become separate blocks.");
  }
  return toWrite.Boxes;
}

/// Returns the pieces of a grid, which consist of the cells to write, see FindCellsToWrite(). `flags`:
/// replaces the flags of the grid's cells; empty: the flags of the grid. Throws Error if containers do not
/// support the grid. Adds messages to `notes`, mostly about data that are not written.
std::vector<GridPiece> PiecesOf(const InputGrid& input, const std::vector<unsigned char>& flags,
    const ArrayChoice& isSelected, std::set<std::string>& notes)
{
  GridPiece whole;
  whole.Group = input.Group;
  whole.Name = input.Name;
  whole.IndexInGroup = input.IndexInGroup;
  whole.Level = input.Level;
  whole.Number = static_cast<int>(NumberInFieldData(input.Grid, "patch", -1));
  whole.Hides = input.IsAmr;
  if (!DescribeMesh(input.Grid, whole)) {
    DescribeGeometry(input.Grid, whole);
  }
  AddFieldDataNotes(input.Grid, notes);
  const std::vector<Box> boxes = DescribeArrays(input.Grid, flags, isSelected, whole, notes);
  std::vector<GridPiece> pieces;
  for (const Box& box : boxes) {
    GridPiece& piece = pieces.emplace_back(whole);
    piece.Cells = box;
    piece.Number = boxes.size() == 1 ? whole.Number : -1;
  }
  return pieces;
}

/// Adds UncoveredCell to the flags of the refined cells of a piece that finer pieces do not cover. `covered`:
/// by cell of the piece, 1 if finer pieces cover the cell; empty: finer pieces cover no cell. `flags`: see
/// PiecesOf(). Returns whether a flag has changed.
bool MarkUncoveredCells(vtkDataSet* grid, const GridPiece& piece, const std::vector<std::uint8_t>& covered,
    std::vector<unsigned char>& flags)
{
  vtkUnsignedCharArray* const own = grid->GetCellGhostArray();
  const bool keepsFlags = std::any_of(piece.Arrays.begin(), piece.Arrays.end(),
      [](const ArrayDescription& array) { return array.Name == FlagsName; });
  if (!own || piece.Mesh.Points > 0 || keepsFlags) {
    return false;
  }
  bool changed = false;
  std::size_t cell = 0;
  for (int k = piece.Cells.Lower[2]; k <= piece.Cells.Upper[2]; ++k) {
    for (int j = piece.Cells.Lower[1]; j <= piece.Cells.Upper[1]; ++j) {
      const std::size_t row = IndexIn(piece.Whole, {piece.Cells.Lower[0], j, k});
      for (std::int64_t i = 0; i < piece.Cells.Width(0); ++i, ++cell) {
        const unsigned char flag = flags.empty() ? own->GetValue(row + i) : flags[row + i];
        const bool isCovered = !covered.empty() && covered[cell];
        if ((flag & vtkDataSetAttributes::REFINEDCELL) && !(flag & UncoveredCell) && !isCovered) {
          if (flags.empty()) {
            flags = FlagsOf(own);
          }
          flags[row + i] |= UncoveredCell;
          changed = true;
        }
      }
    }
  }
  return changed;
}

/// The number of bytes of copied values at which a batch ends. The writer copies values that VTK stores in
/// another form or as a part of a larger array.
constexpr std::uint64_t MaxCopiedBytes = std::uint64_t(256) << 20;

}  // namespace

InputStep::InputStep(Communicator& ranks, vtkDataObject* data, const ArrayChoice& isSelected) : Ranks(ranks)
{
  RunOnAllRanks(ranks, [&] { this->Grids = InputGridsOf(data); });
  std::vector<std::vector<unsigned char>> flags(this->Grids.size());
  do {  // a piece that loses cells covers fewer cells of coarser levels, so the loop repeats until no cell
        // changes
    this->CollectPieces(flags, isSelected);
  } while (this->MarkUncovered(flags));
  const bool known = std::all_of(
      this->Pieces.begin(), this->Pieces.end(), [](const GridPiece& piece) { return piece.Level >= 0; });
  const std::size_t grids = GridsOf(this->MergedCatalog.Data).size();
  if (grids > 1 && !known) {
    this->AllNotes.push_back(fmt::format(
        "The container gets {} separate grids. Select the grids to show with the reader property Grids.",
        grids));
  }
}

/// Sets Pieces, MergedCatalog and AllNotes from the grids of all ranks. `flags`: one list per grid, see
/// PiecesOf(). Collective: every rank of the communicator calls it.
void InputStep::CollectPieces(
    const std::vector<std::vector<unsigned char>>& flags, const ArrayChoice& isSelected)
{
  std::vector<GridPiece> local;
  std::set<std::string> notes;
  RunOnAllRanks(this->Ranks, [&] {
    for (std::size_t i = 0; i < this->Grids.size(); ++i) {
      for (GridPiece& piece : PiecesOf(this->Grids[i], flags[i], isSelected, notes)) {
        piece.Rank = this->Ranks.Rank();
        piece.Grid = static_cast<int>(i);
        local.push_back(std::move(piece));
      }
    }
  });
  this->Pieces.clear();
  for (const std::string& bytes : this->Ranks.AllGather(PackValues(EncodePieces(local)))) {
    DecodePieces(bytes, this->Pieces);
  }
  this->AllNotes = GatherTexts(this->Ranks, {notes.begin(), notes.end()});
  this->MergedCatalog = MakeStepCatalog(this->Pieces);
}

/// Marks the refined cells that no finer piece covers, for example because a finer level was not read.
/// `flags`: see CollectPieces(). Returns whether any rank has marked a new cell. Collective: every rank of
/// the communicator calls it.
bool InputStep::MarkUncovered(std::vector<std::vector<unsigned char>>& flags) const
{
  const Catalog& data = this->MergedCatalog.Data;
  const auto hides = [](const GridPiece& piece) { return piece.Hides; };
  if (!data.KnowsPositions() || std::none_of(this->Pieces.begin(), this->Pieces.end(), hides)) {
    return false;
  }
  bool found = false;
  RunOnAllRanks(this->Ranks, [&] {
    const Nesting nesting(data, std::vector<bool>(data.Patches.size(), true));
    for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
      const GridPiece& piece = this->Pieces[this->MergedCatalog.PieceOf[patch]];
      if (piece.Rank == this->Ranks.Rank() && piece.Hides) {
        const bool marked = MarkUncoveredCells(
            this->Grids[piece.Grid].Grid, piece, nesting.CoveredCells(patch), flags[piece.Grid]);
        found = found || marked;
      }
    }
  });
  return !AllOf(this->Ranks, !found);
}

void InputStep::WriteTo(
    output::ChannelOutput& to, std::size_t channel, container::CompressionChoice compression)
{
  container::StepToWrite toWrite{this->MergedCatalog.Data, this->MergedCatalog.Types, {}};
  container::HeldValues sample;
  if (compression == container::CompressionChoice::Auto) {
    RunOnAllRanks(this->Ranks, [&] { sample = this->MakeBatch(0, MaxCopiedBytes, false); });
  }
  toWrite.Compression = container::ChooseCompression(this->Ranks, toWrite, compression, sample.Arrays);
  to.Write(channel, std::move(toWrite), this->LocalBytes(), [this, &sample](output::ValueForm form) {
    container::HeldValues first = std::exchange(sample, {});
    const bool inBatches = form == output::ValueForm::Batches;
    if (!inBatches || !first.Holder) {
      first = {};  // before the values are copied
      first = this->MakeBatch(
          0, inBatches ? MaxCopiedBytes : ~std::uint64_t(0), form == output::ValueForm::Copies);
    }
    return first;
  });
}

/// Returns the number of bytes of the values of this rank.
std::uint64_t InputStep::LocalBytes() const
{
  const Catalog& data = this->MergedCatalog.Data;
  std::uint64_t bytes = 0;
  for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
    const bool isLocal = this->Pieces[this->MergedCatalog.PieceOf[patch]].Rank == this->Ranks.Rank();
    for (int v = 0; v < static_cast<int>(data.Variables.size()) && isLocal; ++v) {
      bytes += data.PresenceOf(v, patch) == Presence::Stored
                   ? container::ValuesOf(data, v, patch) * SizeOf(this->MergedCatalog.Types[v])
                   : 0;
    }
  }
  return bytes;
}

/// Returns the values of this rank's patches from the patch `firstPatch` on, until the copied values reach
/// `maxBytes` bytes, and a function that returns the next batch. `copies`: see ValuesToWrite.
container::HeldValues InputStep::MakeBatch(std::size_t firstPatch, std::uint64_t maxBytes, bool copies) const
{
  const Catalog& data = this->MergedCatalog.Data;
  container::HeldValues batch;
  const auto held = std::make_shared<std::deque<ValuesToWrite>>();
  batch.Holder = held;
  std::size_t patch = firstPatch;
  for (std::uint64_t copied = 0; patch < data.Patches.size() && copied < maxBytes; ++patch) {
    const GridPiece& piece = this->Pieces[this->MergedCatalog.PieceOf[patch]];
    if (piece.Rank != this->Ranks.Rank()) {
      continue;
    }
    for (const ArrayDescription& array : piece.Arrays) {
      const int v = this->MergedCatalog.VariableOf.at(KeyOf(array));
      if (data.PresenceOf(v, static_cast<int>(patch)) == Presence::Stored) {
        const bool cells = array.Center == Centering::Cell;
        const ValuesToWrite& one =
            held->emplace_back(ArrayOf(this->Grids[piece.Grid].Grid, array), this->MergedCatalog.Types[v],
                data.Variables[v].Components, cells ? piece.Whole : NodesOf(piece, piece.Whole),
                cells ? piece.Cells : NodesOf(piece, piece.Cells), copies);
        batch.Arrays.push_back({static_cast<int>(patch), v, one.Data()});
        copied += one.Bytes();
      }
    }
  }
  if (patch < data.Patches.size()) {
    batch.Next = [this, patch, maxBytes, copies] { return this->MakeBatch(patch, maxBytes, copies); };
  }
  return batch;
}

}  // namespace patchio
