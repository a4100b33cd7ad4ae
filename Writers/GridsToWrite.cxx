#include "GridsToWrite.h"

#include "DataArrays.h"
#include "KeptCells.h"
#include "MeshToWrite.h"
#include "Support/Error.h"

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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace patchio {
namespace {

/// Field data that the reader makes again, and that ParaView adds.
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
        "Apply Resample To Image first: the data have an image with rotated axes (a direction matrix), which "
        "PatchIO containers do not support.");
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

/// Sets the kind of grid, and where it is.
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

/// Whether all hidden points have no value in some array: then reading hides them again, and the cells around
/// them.
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

/// Adds the flags as an array.
void KeepFlags(Centering center, PieceForm& form, std::set<std::string>& notes)
{
  const auto isIt = [center](
                        const ArrayForm& array) { return array.Name == FlagsName && array.Center == center; };
  if (std::none_of(form.Arrays.begin(), form.Arrays.end(), isIt)) {
    form.Arrays.push_back({FlagsName, center, 1, ElementType::UInt8, false, false, false});
  }
  notes.insert(
      fmt::format("Some {} are hidden by flags that PatchIO containers do not support. They become visible, "
                  "and the flags become the array '{}'; hide them again with Threshold.",
          center == Centering::Cell ? "cells" : "points", FlagsName));
}

/// In blocks that the reader has merged and given a layer of neighbours' cells, the flags do not tell these
/// from refined cells.
void CheckLayers(vtkUnsignedCharArray* flags, FlagMeaning meaning, const PieceForm& form)
{
  const bool merged = flags && form.Level >= 0 && !meaning.OfAmr && !meaning.OfWholePatch;
  for (vtkIdType cell = 0; merged && cell < flags->GetNumberOfTuples(); ++cell) {
    if (flags->GetValue(cell) == vtkDataSetAttributes::DUPLICATECELL) {
      throw Error(
          "Turn off Add Ghost Layer in the reader, or set Blocks to As patches: PatchIO containers do not "
          "support merged blocks with ghost layers.");
    }
  }
}

/// Sets the arrays, also the flags where they must be kept as such, and gives the boxes that the grid
/// becomes.
std::vector<Box> TakeArrays(vtkDataSet* grid, const std::vector<unsigned char>& flagsToUse,
    const ArrayChoice& isWanted, PieceForm& form, std::set<std::string>& notes)
{
  const bool isAmr = form.Hides;
  const std::vector<ArrayForm> arrays = ArraysOf(grid, isWanted, notes);
  form.Arrays.insert(form.Arrays.end(), arrays.begin(), arrays.end());
  if (form.Mesh.Points > 0) {
    return {form.Cells};  // a mesh has its flags
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
    KeepFlags(Centering::Cell, form, notes);  // indices do not tell which blocks refine which
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

}  // namespace

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

}  // namespace patchio
