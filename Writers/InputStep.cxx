#include "InputStep.h"

#include "ArraysToWrite.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Catalog/Box.h"
#include "Catalog/Nesting.h"
#include "DataArrays.h"
#include "Formats/Container/StepLayout.h"
#include "InputTree.h"
#include "Plan/BoxCover.h"
#include "Plan/Interest.h"

#include <fmt/format.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
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

struct KeptCells
{
  std::vector<Box> Boxes;   ///< disjoint; empty when no cell is kept
  bool NeedsFlags = false;  ///< the omitted cells are too scattered for boxes, so all cells are kept
};

/// A flag in addition to VTK's: no finer level that is written covers this refined cell, so reading would not
/// hide it.
constexpr unsigned char UncoveredCell = 1 << 6;

/// The meaning of a block's flags.
struct FlagMeaning
{
  /// Duplicates within the block are kept, because they are cells that another patch has, too.
  bool OfWholePatch = false;
  bool OfAmr = false;  ///< duplicates are always ghost cells, unlike in PatchIO's output
};

/// More than MostBoxes boxes with fewer than LeastCells cells each would make the data slow to read.
constexpr std::size_t MostBoxes = 64;
constexpr std::int64_t LeastCells = 512;

/// Returns, for each value of a flag, whether a cell with this flag is kept.
std::array<bool, 256> KeptFlags(const Box& cells, const unsigned char* flags, bool ofAmr)
{
  const unsigned char* const end = flags + cells.Cells();
  const bool ghosts = ofAmr || std::any_of(flags, end, [](unsigned char flag) {
    return (flag & vtkDataSetAttributes::REFINEDCELL) && !(flag & vtkDataSetAttributes::DUPLICATECELL);
  });
  std::array<bool, 256> kept;
  for (int flag = 0; flag < 256; ++flag) {
    const bool refined = (flag & vtkDataSetAttributes::REFINEDCELL) != 0;
    const bool duplicate = (flag & vtkDataSetAttributes::DUPLICATECELL) != 0;
    const bool hidden = (flag & vtkDataSetAttributes::HIDDENCELL) != 0;
    kept[flag] = (flag & UncoveredCell) == 0 && (refined ? !(ghosts && duplicate) : !duplicate && !hidden);
  }
  return kept;
}

/// Returns the runs of kept cells along axis 0.
std::vector<OwnedBox> RunsOf(const Box& cells, const unsigned char* flags, const std::array<bool, 256>& kept)
{
  std::vector<OwnedBox> runs;
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {cells.Lower[0], j, k});
      const int width = static_cast<int>(cells.Width(0));
      for (int i = 0; i < width;) {
        const int first = i;
        for (; i < width && kept[row[i]]; ++i) {
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

bool HasHidden(
    const Box& cells, const Box& part, const unsigned char* flags, const std::array<bool, 256>& kept)
{
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {part.Lower[0], j, k});
      for (std::int64_t i = 0; i < part.Width(0); ++i) {
        if (!kept[row[i]] && (row[i] & (vtkDataSetAttributes::HIDDENCELL | UncoveredCell))) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Finds the cells to write. Keeps refined cells, because finer levels hide them again. Omits other hidden
/// cells and duplicates (layers of ghost cells, gaps between the patches of a merged block, cells that the
/// user has blanked), and cells with the flag UncoveredCell.
///
/// flags: the flags of vtkDataSetAttributes and UncoveredCell, one value per cell of the box, axis 0 fastest;
/// null: no flag is set.
KeptCells FindKeptCells(const Box& cells, const unsigned char* flags, FlagMeaning meaning)
{
  if (!flags) {
    return {{cells}, false};
  }
  const std::array<bool, 256> isKept = KeptFlags(cells, flags, meaning.OfAmr);
  const std::vector<OwnedBox> runs = RunsOf(cells, flags, isKept);
  if (runs.empty()) {
    return {};
  }
  std::int64_t kept = 0;
  for (const OwnedBox& run : runs) {
    kept += run.Cells.Width(0);
  }
  const Box bounds = BoundsOf(runs);
  if (kept == bounds.Cells() || (meaning.OfWholePatch && !HasHidden(cells, bounds, flags, isKept))) {
    return {{bounds}, false};
  }
  CoverOptions options;
  options.MostCells = std::int64_t(1) << 40;
  options.CellsWorthABox = 0;
  KeptCells result;
  for (const CoverBox& box : CoverBoxes(runs, {}, options)) {
    result.Boxes.push_back(box.Cells);
  }
  if (result.Boxes.size() > MostBoxes && kept / static_cast<std::int64_t>(result.Boxes.size()) < LeastCells) {
    return {{cells}, true};
  }
  return result;
}

/// Names of field data that the writer drops without a note, because the reader makes them again, or ParaView
/// adds them.
constexpr const char* KnownFieldData[] = {
    "time", "step", "date", "level", "patch", "rank", "levels", "TimeValue"};

void NoteFieldData(vtkDataSet* grid, std::set<std::string>& notes)
{
  vtkFieldData* const data = grid->GetFieldData();
  for (int i = 0; data && i < data->GetNumberOfArrays(); ++i) {
    const char* const name = data->GetArrayName(i);
    if (name && std::find(std::begin(KnownFieldData), std::end(KnownFieldData), std::string(name)) ==
                    std::end(KnownFieldData)) {
      notes.insert(
          fmt::format("Skipping the field data '{}', because PatchIO containers do not support field data.",
              PlainText(name)));
    }
  }
}

void TakeUniform(vtkImageData* grid, PieceForm& form)
{
  grid->GetOrigin(form.Origin.data());
  grid->GetSpacing(form.Spacing.data());
  if (!grid->GetDirectionMatrix()->IsIdentity()) {
    throw Error(
        "The data have an image with rotated axes (a direction matrix), which PatchIO containers do not "
        "support. Apply Resample To Image first.");
  }
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat = (form.FlatAxes >> axis & 1) != 0;
    form.Spacing[axis] = flat && !(form.Spacing[axis] > 0) ? 1 : form.Spacing[axis];
    if (!(form.Spacing[axis] > 0) || !std::isfinite(form.Spacing[axis]) ||
        !std::isfinite(form.Origin[axis])) {
      throw Error(
          fmt::format("The data have an image with the cell size {} and the origin {} along axis {}, which "
                      "PatchIO containers do not support.",
              form.Spacing[axis], form.Origin[axis], axis));
    }
  }
}

void TakeRectilinear(vtkRectilinearGrid* grid, PieceForm& form)
{
  vtkDataArray* const coordinates[] = {
      grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()};
  int extent[6];
  grid->GetExtent(extent);
  for (int axis = 0; axis < 3; ++axis) {
    Axis& to = form.Axes[axis];
    to.First = extent[2 * axis];
    for (vtkIdType i = 0; i < coordinates[axis]->GetNumberOfTuples(); ++i) {
      to.Positions.push_back(coordinates[axis]->GetTuple1(i));
    }
    if (std::adjacent_find(to.Positions.begin(), to.Positions.end(), std::greater_equal<>()) !=
        to.Positions.end()) {
      throw Error(
          fmt::format("The data have a rectilinear grid whose positions along axis {} do not increase, which "
                      "PatchIO containers do not support.",
              axis));
    }
  }
  vtkDataArray* const labels = grid->GetFieldData()->GetArray("levels");
  if (labels && labels->GetNumberOfValues() == static_cast<vtkIdType>(form.Axes[2].Positions.size())) {
    for (vtkIdType i = 0; i < labels->GetNumberOfValues(); ++i) {
      form.Axes[2].Labels.push_back(labels->GetTuple1(i));
    }
  }
}

void TakeCurvilinear(vtkStructuredGrid* grid, PieceForm& form)
{
  vtkDataArray* const points = grid->GetPoints()->GetData();
  form.IsPlane = (form.FlatAxes & 4) != 0;
  for (vtkIdType i = 0; form.IsPlane && i < points->GetNumberOfTuples(); ++i) {
    form.IsPlane = points->GetComponent(i, 2) == 0;
  }
  form.Arrays.push_back({"Coords", Centering::Node, 3, *ElementTypeOf(points), false, false, true});
}

/// Sets the kind and the geometry of a structured grid. Throws Error for other grids.
void TakeGeometry(vtkDataSet* grid, PieceForm& form)
{
  int extent[6] = {0, -1, 0, -1, 0, -1};
  if (auto* image = vtkImageData::SafeDownCast(grid)) {
    image->GetExtent(extent);
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(grid)) {
    form.Kind = GridKind::Rectilinear;
    rectilinear->GetExtent(extent);
  } else if (auto* curvilinear = vtkStructuredGrid::SafeDownCast(grid)) {
    form.Kind = GridKind::Curvilinear;
    curvilinear->GetExtent(extent);
  } else {
    throw Error(
        fmt::format("The data have a {}, which PatchIO containers do not support. Save it in another format, "
                    "or apply Resample To Image first.",
            grid->GetClassName()));
  }
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat = extent[2 * axis] == extent[2 * axis + 1];
    form.FlatAxes |= flat ? std::uint64_t(1) << axis : 0;
    form.Cells.Lower[axis] = extent[2 * axis];
    form.Cells.Upper[axis] = extent[2 * axis + 1] - (flat ? 0 : 1);
  }
  form.Whole = form.Cells;
  if (form.Kind == GridKind::Uniform) {
    TakeUniform(vtkImageData::SafeDownCast(grid), form);
  } else if (form.Kind == GridKind::Rectilinear) {
    TakeRectilinear(vtkRectilinearGrid::SafeDownCast(grid), form);
  } else {
    TakeCurvilinear(vtkStructuredGrid::SafeDownCast(grid), form);
  }
}

unsigned char UnionOf(vtkUnsignedCharArray* flags)
{
  unsigned char all = 0;
  for (vtkIdType i = 0; flags && i < flags->GetNumberOfTuples(); ++i) {
    all |= flags->GetValue(i);
  }
  return all;
}

/// Returns whether every hidden point has no value in some array, so that reading hides the point again, and
/// the cells around it.
bool HidesUndefined(vtkDataSet* grid)
{
  vtkUnsignedCharArray* const flags = grid->GetPointGhostArray();
  if (!vtkRectilinearGrid::SafeDownCast(grid) || (UnionOf(flags) & vtkDataSetAttributes::HIDDENPOINT) == 0) {
    return false;
  }
  const auto isUndefined = [&](vtkIdType point) {
    for (int i = 0; i < grid->GetPointData()->GetNumberOfArrays(); ++i) {
      vtkDataArray* const array = grid->GetPointData()->GetArray(i);
      if (array && std::isnan(array->GetComponent(point, 0))) {
        return true;
      }
    }
    return false;
  };
  for (vtkIdType point = 0; point < flags->GetNumberOfTuples(); ++point) {
    if ((flags->GetValue(point) & vtkDataSetAttributes::HIDDENPOINT) && !isUndefined(point)) {
      return false;
    }
  }
  return true;
}

/// Adds the flags as an ordinary array, and a note about this array.
void KeepFlags(Centering center, PieceForm& form, std::set<std::string>& notes)
{
  const auto isFlagArray = [center](const ArrayForm& array) {
    return array.Name == FlagsName && array.Center == center;
  };
  if (std::none_of(form.Arrays.begin(), form.Arrays.end(), isFlagArray)) {
    form.Arrays.push_back({FlagsName, center, 1, ElementType::UInt8, false, false, false});
  }
  notes.insert(
      fmt::format("PatchIO containers do not support the flags that hide some {0}. These {0} become visible, "
                  "and the flags become the array '{1}'. To hide the {0} again, apply Threshold.",
          center == Centering::Cell ? "cells" : "points", FlagsName));
}

/// Throws Error for a merged block of the reader with a layer of neighbours' cells, because the block's flags
/// do not distinguish the layer's cells from refined cells.
void CheckLayers(vtkUnsignedCharArray* flags, FlagMeaning meaning, const PieceForm& form)
{
  const bool merged = flags && form.Level >= 0 && !meaning.OfAmr && !meaning.OfWholePatch;
  for (vtkIdType cell = 0; merged && cell < flags->GetNumberOfTuples(); ++cell) {
    if (flags->GetValue(cell) == vtkDataSetAttributes::DUPLICATECELL) {
      throw Error(
          "PatchIO containers do not support merged blocks with ghost layers. Turn off Add Ghost Layer in "
          "the reader, or set Blocks to As patches.");
    }
  }
}

/// Sets form.Arrays to the arrays of a grid, including the flags if they must be kept as an array. Returns
/// the boxes that become pieces.
std::vector<Box> TakeArrays(vtkDataSet* grid, const std::vector<unsigned char>& flagsToUse,
    const ArrayChoice& isWanted, PieceForm& form, std::set<std::string>& notes)
{
  const bool isAmr = form.Hides;
  const std::vector<ArrayForm> arrays = ArraysOf(grid, isWanted, notes);
  form.Arrays.insert(form.Arrays.end(), arrays.begin(), arrays.end());
  if (form.Mesh.Points > 0) {
    return {form.Cells};  // a mesh keeps its flags
  }
  vtkUnsignedCharArray* const flags = grid->GetCellGhostArray();
  const unsigned char any = UnionOf(flags);
  form.Hides = form.Hides || (any & vtkDataSetAttributes::REFINEDCELL);
  if (HidesUndefined(grid)) {
    for (ArrayForm& array : form.Arrays) {
      array.HidesUndefined = array.Center == Centering::Node &&
                             (array.Type == ElementType::Float32 || array.Type == ElementType::Float64);
    }
    return {form.Cells};
  }
  if (UnionOf(grid->GetPointGhostArray()) & vtkDataSetAttributes::HIDDENPOINT) {
    KeepFlags(Centering::Node, form, notes);
  }
  if (form.Kind == GridKind::Curvilinear && (any & vtkDataSetAttributes::REFINEDCELL)) {
    KeepFlags(Centering::Cell, form, notes);  // indices do not show which blocks refine others
  }
  const FlagMeaning meaning{NumberInFieldData(grid, "patch", -1) >= 0, isAmr};
  CheckLayers(flags, meaning, form);
  const unsigned char* const own = any ? flags->GetPointer(0) : nullptr;
  const KeptCells kept = FindKeptCells(form.Cells, flagsToUse.empty() ? own : flagsToUse.data(), meaning);
  if (kept.NeedsFlags) {
    KeepFlags(Centering::Cell, form, notes);
  } else if ((any & vtkDataSetAttributes::HIDDENCELL) && form.Level < 0) {
    notes.insert("Skipping hidden cells; the visible cells become separate blocks.");
  }
  return kept.Boxes;
}

/// Returns the pieces that a grid becomes, which may be none: see FindKeptCells(). flags: used instead of the
/// flags of the grid's cells, unless empty. Throws Error if a container cannot hold the grid. Adds a sentence
/// to `notes` for everything that is not written.
std::vector<PieceForm> PiecesOf(const InputGrid& input, const std::vector<unsigned char>& flags,
    const ArrayChoice& isWanted, std::set<std::string>& notes)
{
  PieceForm form;
  form.Group = input.Group;
  form.Name = input.Name;
  form.Piece = input.Piece;
  form.Level = input.Level;
  form.Number = static_cast<int>(NumberInFieldData(input.Grid, "patch", -1));
  form.Hides = input.IsAmr;
  if (!TakeMesh(input.Grid, form)) {
    TakeGeometry(input.Grid, form);
  }
  NoteFieldData(input.Grid, notes);
  const std::vector<Box> boxes = TakeArrays(input.Grid, flags, isWanted, form, notes);
  std::vector<PieceForm> pieces;
  for (const Box& box : boxes) {
    PieceForm& piece = pieces.emplace_back(form);
    piece.Cells = box;
    piece.Number = boxes.size() == 1 ? form.Number : -1;
  }
  return pieces;
}

/// Adds UncoveredCell to the flags of a piece's refined cells that finer pieces do not cover. covered: 1 for
/// each cell of the piece that finer pieces cover; empty: finer pieces cover no cell. flags: see PiecesOf().
/// Returns whether a flag has changed.
bool MarkUncovered(vtkDataSet* grid, const PieceForm& piece, const std::vector<std::uint8_t>& covered,
    std::vector<unsigned char>& flags)
{
  vtkUnsignedCharArray* const own = grid->GetCellGhostArray();
  const bool keepsFlags = std::any_of(piece.Arrays.begin(), piece.Arrays.end(),
      [](const ArrayForm& array) { return array.Name == FlagsName; });
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
            flags.assign(own->GetPointer(0), own->GetPointer(own->GetNumberOfTuples()));
          }
          flags[row + i] |= UncoveredCell;
          changed = true;
        }
      }
    }
  }
  return changed;
}

/// Limit on the bytes of values in memory at once that are copies, because VTK stores them in another form.
constexpr std::uint64_t MostCopiedBytes = std::uint64_t(256) << 20;

std::string TextOf(const std::vector<std::byte>& bytes)
{
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

InputStep::InputStep(Communicator& ranks, vtkDataObject* data, const ArrayChoice& isWanted) : Ranks(ranks)
{
  RunOnAllRanks(ranks, [&] { this->Grids = InputGridsOf(data); });
  std::vector<std::vector<unsigned char>> flags(this->Grids.size());
  do {  // a piece that loses cells covers less, so this is repeated for coarser levels
    this->FindPieces(flags, isWanted);
  } while (this->FindUncovered(flags));
  const bool known = std::all_of(
      this->Pieces.begin(), this->Pieces.end(), [](const PieceForm& piece) { return piece.Level >= 0; });
  const std::size_t grids = GridsOf(this->Whole.Data).size();
  if (grids > 1 && !known) {
    this->NotesOfAll.push_back(fmt::format(
        "The container gets {} separate grids. Select the grids to show with the reader property Grids.",
        grids));
  }
}

/// Collective: sets Pieces, Whole and NotesOfAll from the grids of all ranks. flags: one list per grid, see
/// PiecesOf().
void InputStep::FindPieces(const std::vector<std::vector<unsigned char>>& flags, const ArrayChoice& isWanted)
{
  std::vector<PieceForm> local;
  std::set<std::string> notes;
  RunOnAllRanks(this->Ranks, [&] {
    for (std::size_t i = 0; i < this->Grids.size(); ++i) {
      for (PieceForm& piece : PiecesOf(this->Grids[i], flags[i], isWanted, notes)) {
        piece.Rank = this->Ranks.Rank();
        piece.Grid = static_cast<int>(i);
        local.push_back(std::move(piece));
      }
    }
  });
  this->Pieces.clear();
  for (const std::string& bytes : this->Ranks.AllGather(TextOf(BytesOf(local)))) {
    TakePieces(bytes, this->Pieces);
  }
  std::string lines;
  for (const std::string& note : notes) {
    lines += note + "\n";
  }
  std::set<std::string> all;
  for (const std::string& text : this->Ranks.AllGather(lines)) {
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      all.insert(text.substr(begin, end - begin));
    }
  }
  this->NotesOfAll = {all.begin(), all.end()};
  this->Whole = MakeStepCatalog(this->Pieces);
}

/// Collective: marks refined cells that no finer piece covers, for example because a finer level was not
/// read. Returns whether any rank has marked a cell that was not marked before.
bool InputStep::FindUncovered(std::vector<std::vector<unsigned char>>& flags) const
{
  const Catalog& data = this->Whole.Data;
  const auto hides = [](const PieceForm& piece) { return piece.Hides; };
  if (!data.HasPlacedBoxes() || std::none_of(this->Pieces.begin(), this->Pieces.end(), hides)) {
    return false;
  }
  bool found = false;
  RunOnAllRanks(this->Ranks, [&] {
    const Nesting nesting(data, std::vector<bool>(data.Patches.size(), true));
    for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
      const PieceForm& piece = this->Pieces[this->Whole.PieceOf[patch]];
      if (piece.Rank == this->Ranks.Rank() && piece.Hides) {
        const bool marked = MarkUncovered(
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
  container::StepToWrite toWrite{this->Whole.Data, this->Whole.Types, {}};
  container::HeldValues sample;
  if (compression == container::CompressionChoice::Auto) {
    RunOnAllRanks(this->Ranks, [&] { sample = this->BatchFrom(0, MostCopiedBytes, false); });
  }
  toWrite.Compression = container::ChooseCompression(this->Ranks, toWrite, compression, sample.Arrays);
  to.Write(channel, std::move(toWrite), this->LocalBytes(), [this, &sample](output::ValueForm form) {
    container::HeldValues first = std::exchange(sample, {});
    const bool inBatches = form == output::ValueForm::Batches;
    if (!inBatches || !first.Holder) {
      first = {};  // before the values are copied
      first = this->BatchFrom(
          0, inBatches ? MostCopiedBytes : ~std::uint64_t(0), form == output::ValueForm::Copies);
    }
    return first;
  });
}

std::uint64_t InputStep::LocalBytes() const
{
  const Catalog& data = this->Whole.Data;
  std::uint64_t bytes = 0;
  for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
    const bool isLocal = this->Pieces[this->Whole.PieceOf[patch]].Rank == this->Ranks.Rank();
    for (int v = 0; v < static_cast<int>(data.Variables.size()) && isLocal; ++v) {
      bytes += data.PresenceOf(v, patch) == Presence::Stored
                   ? container::ValuesOf(data, v, patch) * SizeOf(this->Whole.Types[v])
                   : 0;
    }
  }
  return bytes;
}

/// Returns the values of this rank's patches from patch `begin` on, up to the patch that makes the copied
/// values exceed `most` bytes, and a function that returns the next ones.
container::HeldValues InputStep::BatchFrom(std::size_t begin, std::uint64_t most, bool copies) const
{
  const Catalog& data = this->Whole.Data;
  container::HeldValues batch;
  const auto held = std::make_shared<std::deque<ValuesToWrite>>();
  batch.Holder = held;
  std::size_t patch = begin;
  for (std::uint64_t copied = 0; patch < data.Patches.size() && copied < most; ++patch) {
    const PieceForm& piece = this->Pieces[this->Whole.PieceOf[patch]];
    if (piece.Rank != this->Ranks.Rank()) {
      continue;
    }
    for (const ArrayForm& array : piece.Arrays) {
      const int v = this->Whole.VariableOf.at(KeyOf(array));
      if (data.PresenceOf(v, static_cast<int>(patch)) == Presence::Stored) {
        const bool cells = array.Center == Centering::Cell;
        const ValuesToWrite& one =
            held->emplace_back(ArrayOf(this->Grids[piece.Grid].Grid, array), this->Whole.Types[v],
                data.Variables[v].Components, cells ? piece.Whole : NodesOf(piece, piece.Whole),
                cells ? piece.Cells : NodesOf(piece, piece.Cells), copies);
        batch.Arrays.push_back({static_cast<int>(patch), v, one.Data()});
        copied += one.Bytes();
      }
    }
  }
  if (patch < data.Patches.size()) {
    batch.Next = [this, patch, most, copies] { return this->BatchFrom(patch, most, copies); };
  }
  return batch;
}

}  // namespace patchio
