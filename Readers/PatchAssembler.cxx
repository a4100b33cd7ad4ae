#include "PatchAssembler.h"

#include "Catalog/Catalog.h"
#include "DataArrays.h"
#include "Filters/VtkVersions.h"
#include "KnownRanges.h"
#include "MeshGrids.h"
#include "Read/LoadRequest.h"

#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkInformation.h>
#include <vtkIntArray.h>
#include <vtkMath.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkStructuredGrid.h>
#include <vtkTypeInt64Array.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace patchio {
namespace {

/// Returns the positions of the nodes in the extent along an axis.
std::vector<double> PositionsOf(const Catalog& catalog, int axis, const int extent[6])
{
  const Axis& along = catalog.Axes[axis];
  std::vector<double> positions;
  for (int node = extent[2 * axis]; node <= extent[2 * axis + 1]; ++node) {
    // On a sphere, the first column also follows the last column, see CloseSeam().
    positions.push_back(along.Positions[(node - along.First) % along.Positions.size()]);
  }
  return positions;
}

vtkSmartPointer<vtkDataSet> MakeRectilinearGrid(const Catalog& catalog, const int extent[6])
{
  auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  const auto coordinates = [&](int axis) {
    auto array = vtkSmartPointer<vtkDoubleArray>::New();
    for (const double position : PositionsOf(catalog, axis, extent)) {
      array->InsertNextValue(position);
    }
    return array;
  };
  grid->SetXCoordinates(coordinates(0));
  grid->SetYCoordinates(coordinates(1));
  grid->SetZCoordinates(coordinates(2));
  return grid;
}

/// Returns a grid on a sphere. As on the plane, a degree of the equator has the length 1, and heights keep
/// their unit.
vtkSmartPointer<vtkDataSet> MakeSphericalGrid(const Catalog& catalog, const int extent[6])
{
  const double degree = vtkMath::RadiansFromDegrees(1.0);
  const std::vector<double> longitudes = PositionsOf(catalog, 0, extent);
  const std::vector<double> latitudes = PositionsOf(catalog, 1, extent);
  vtkNew<vtkFloatArray> positions;
  positions->SetNumberOfComponents(3);
  float* next = positions->WritePointer(
      0, 3 * static_cast<vtkIdType>(longitudes.size() * latitudes.size()) * (extent[5] - extent[4] + 1));
  for (const double height : PositionsOf(catalog, 2, extent)) {
    const double radius = 1 / degree + height;
    for (const double latitude : latitudes) {
      const double ring = radius * std::cos(latitude * degree);
      const double z = radius * std::sin(latitude * degree);
      for (const double longitude : longitudes) {
        *next++ = static_cast<float>(ring * std::cos(longitude * degree));
        *next++ = static_cast<float>(ring * std::sin(longitude * degree));
        *next++ = static_cast<float>(z);
      }
    }
  }
  vtkNew<vtkPoints> points;
  points->SetData(positions);
  auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  grid->SetPoints(points);
  return grid;
}

/// Returns a grid of the cells `cells` of a level, without arrays: vtkUniformGrid, vtkRectilinearGrid or
/// vtkStructuredGrid.
///
/// `onSphere`: true puts geographic grids on a sphere. `coordinates`: node positions of a curvilinear grid,
/// whose values move to the grid; null for other grids.
vtkSmartPointer<vtkDataSet> MakeGrid(
    const Catalog& catalog, int level, const Box& cells, bool onSphere, LoadedArray* coordinates)
{
  int extent[6];
  for (int axis = 0; axis < 3; ++axis) {
    extent[2 * axis] = cells.Lower[axis];
    extent[2 * axis + 1] = cells.Upper[axis] + catalog.NodesBeyondCells(level, axis);
  }
  if (catalog.Grid == GridType::Curvilinear) {
    assert(coordinates && coordinates->Status == ArrayStatus::Read);
    vtkNew<vtkPoints> points;
    points->SetData(MoveToVtkArray(*coordinates, "Coords"));
    auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
    grid->SetExtent(extent);
    grid->SetPoints(points);
    return grid;
  }
  if (catalog.Grid == GridType::Rectilinear) {
    return onSphere && catalog.Geographic ? MakeSphericalGrid(catalog, extent)
                                          : MakeRectilinearGrid(catalog, extent);
  }
  // The extent and the origin refer to the index space of the level, so that a node has the same coordinates,
  // to the last bit, in all blocks.
  auto grid = vtkSmartPointer<vtkUniformGrid>::New();
  grid->SetOrigin(catalog.Origin.data());
  grid->SetSpacing(catalog.Levels[level].Spacing.data());
  grid->SetExtent(extent);
  return grid;
}

/// Returns an array with the single value `value`.
template <typename ArrayType, typename Value>
vtkSmartPointer<ArrayType> MakeSingleValueArray(const char* name, Value value)
{
  auto array = vtkSmartPointer<ArrayType>::New();
  array->SetName(name);
  array->InsertNextValue(value);
  return array;
}

}  // namespace

PatchAssembler::PatchAssembler(const LoadedStep& loaded, int rank, bool pointsAsImages)
    : Loaded(loaded),
      Data(loaded.Data()),
      Variables(loaded.Variables()),
      Options(loaded.Options),
      Rank(rank),
      PointsAsImages(pointsAsImages),
      Flags(loaded),
      HidesCells(this->Flags.MayHideCells(loaded.Plan.Blocks)),
      Constants(loaded.Memory())
{
  this->RankValue = MakeSingleValueArray<vtkIntArray>("rank", rank);
  for (std::size_t level = 0; level < this->Data.Levels.size(); ++level) {
    this->LevelValues.push_back(MakeSingleValueArray<vtkIntArray>("level", static_cast<int>(level)));
  }
  // On a sphere, the components have other directions.
  if (this->Options.Vectors && !(this->Options.Sphere && this->Data.Geographic)) {
    this->Vectors = this->RequestedVectors();
  }
}

PatchAssembler::~PatchAssembler() = default;

/// Returns the composed vectors, see patchio::ComposedVectors(). The components are indices in Variables.
std::vector<ComposedVector> PatchAssembler::RequestedVectors() const
{
  std::vector<int> requested;
  for (const VariableRequest& request : this->Variables) {
    requested.push_back(request.Variable);
  }
  std::vector<ComposedVector> vectors = ComposedVectors(this->Data, requested);
  for (ComposedVector& vector : vectors) {
    for (int& component : vector.Components) {
      component =
          static_cast<int>(std::find(requested.begin(), requested.end(), component) - requested.begin());
    }
  }
  return vectors;
}

void PatchAssembler::BuildTree(
    vtkMultiBlockDataSet* output, const std::vector<Block>& blocks, int firstLevel, int lastLevel) const
{
  const int levels = static_cast<int>(this->Data.Levels.size());
  output->SetNumberOfBlocks(levels);
  std::size_t next = 0;
  for (int l = 0; l < levels; ++l) {
    vtkNew<vtkMultiPieceDataSet> pieces;
    const std::size_t first = next;
    for (; next < blocks.size() && blocks[next].Level == l; ++next) {
    }
    if (l >= firstLevel && l <= lastLevel) {
      pieces->SetNumberOfPieces(static_cast<unsigned int>(next - first));
      for (std::size_t b = first; b < next; ++b) {
        pieces->GetMetaData(static_cast<unsigned int>(b - first))
            ->Set(vtkCompositeDataSet::NAME(), NameOfBlock(this->Data, blocks[b]).c_str());
      }
    }
    output->SetBlock(l, pieces);
    output->GetMetaData(l)->Set(vtkCompositeDataSet::NAME(), this->Data.NameOfLevel(l).c_str());
  }
  output->GetFieldData()->AddArray(MakeSingleValueArray<vtkDoubleArray>("time", this->Data.Time));
  output->GetFieldData()->AddArray(MakeSingleValueArray<vtkTypeInt64Array>("step", this->Data.Step));
  if (!this->Data.Date.empty()) {
    output->GetFieldData()->AddArray(MakeSingleValueArray<vtkStringArray>("date", this->Data.Date));
  }
}

/// Returns whether a variable has the same values at all steps of the file. `variable`: index in Variables.
bool PatchAssembler::IsTimeInvariant(std::size_t variable) const
{
  return this->Data.StepsInFile == 1 ||
         this->Data.Variables[this->Variables[variable].Variable].TimeInvariant;
}

BlockFrame PatchAssembler::MakeFrame(const Block& block, const std::vector<LoadedArray*>& arrays)
{
  const int geometryVariable =
      this->IsPointList(block) ? this->Data.PositionsVariable(block.Level) : this->Data.CoordinatesVariable;
  LoadedArray* const geometry = this->ArrayOf(geometryVariable, arrays);
  BlockFrame frame;
  if (this->IsPointList(block)) {
    frame = this->MakePointFrame(block, geometry);
  } else if (this->Data.IsMesh()) {
    frame.Grid = this->MakeMeshGrid(block, arrays);
  } else {
    frame.Grid = MakeGrid(this->Data, block.Level, this->CellsOf(block), this->Options.Sphere, geometry);
  }
  frame.Grid->GetCellData()->AllocateArrays(
      static_cast<int>(arrays.size()) +
      1);  // reserved at once, because each later growth would move all arrays
  this->AddArrays(block, frame, arrays, true, frame.Grid);
  const bool hasBlockCells = frame.CellOfPoint.empty() && !this->Data.IsMesh();
  if (hasBlockCells) {  // images of points and meshes already have their flags
    this->AddGhostArray(block, frame.Grid);
  }
  if (this->Options.PatchIds) {
    this->AddOriginArrays(block, hasBlockCells, frame.Grid);
  }
  this->AddFieldData(block, frame.Grid);
  return frame;
}

/// Returns the array of the catalog's variable `variable`; null if the variable was not requested.
LoadedArray* PatchAssembler::ArrayOf(int variable, const std::vector<LoadedArray*>& arrays) const
{
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (this->Variables[v].Variable == variable) {
      return arrays[v];
    }
  }
  return nullptr;
}

/// Returns the grid of a block of a mesh. (The block is one patch.)
vtkSmartPointer<vtkDataSet> PatchAssembler::MakeMeshGrid(
    const Block& block, const std::vector<LoadedArray*>& arrays) const
{
  return MakeMesh(this->Data, block.Parts[0].Owner, [&](MeshRole role, int cellList) {
    return this->ArrayOf(this->Data.FindMeshArray(role, cellList), arrays);
  });
}

/// Returns the frame of a block of a list of points. `positions`: values of Catalog::PositionsVariable().
BlockFrame PatchAssembler::MakePointFrame(const Block& block, const LoadedArray* positions) const
{
  assert(positions && positions->Status == ArrayStatus::Read);
  const int variable = this->Data.PositionsVariable(block.Level);
  const PointCells pointCells(this->Data, *positions, this->Data.Variables[variable].Name);
  BlockFrame frame;
  if (this->PointsAsImages) {
    PointImage image = MakePointImage(this->Data, block.Level, pointCells);
    frame.Grid = image.Grid;
    frame.CellOfPoint = std::move(image.CellOfPoint);
  } else {
    frame.Grid = MakePointSet(block.Level, pointCells);
  }
  return frame;
}

/// Returns the cell data or the point data for the array of a variable. `variable`: index in Variables.
/// `isPointData`: true for lists of points that are not images.
vtkDataSetAttributes* PatchAssembler::AttributesOf(
    std::size_t variable, bool isPointData, vtkDataSet* grid) const
{
  const Variable& info = this->Data.Variables[this->Variables[variable].Variable];
  if (info.Center == Centering::Cell && !isPointData) {
    return grid->GetCellData();
  }
  return grid->GetPointData();
}

/// Adds the arrays and vectors of the time-invariant variables or, if `timeInvariant` is false, of the other
/// variables, without geometry.
void PatchAssembler::AddArrays(const Block& block, const BlockFrame& frame,
    const std::vector<LoadedArray*>& arrays, bool timeInvariant, vtkDataSet* grid)
{
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (this->IsTimeInvariant(v) != timeInvariant || this->Data.IsGeometry(this->Variables[v].Variable)) {
      continue;
    }
    if (arrays[v]->Status == ArrayStatus::Absent) {
      this->AddSubstitute(v, grid);
    }
    if (arrays[v]->Status != ArrayStatus::Read) {
      continue;
    }
    LoadedArray scattered;
    if (!frame.CellOfPoint.empty()) {
      scattered = ScatterToCells(*arrays[v], frame.CellOfPoint, grid, this->Loaded.Memory());
    }
    LoadedArray& array = scattered.Values ? scattered : *arrays[v];
    const std::string& name = this->Data.Variables[this->Variables[v].Variable].Name;
    this->AttributesOf(v, this->BecomesPolyData(block), grid)->AddArray(MoveToVtkArray(array, name));
  }
  this->AddVectors(arrays, timeInvariant, grid);
}

/// Adds the composed vectors whose components are all arrays of the grid, with the same type.
/// `timeInvariant`: see AddArrays().
void PatchAssembler::AddVectors(
    const std::vector<LoadedArray*>& arrays, bool timeInvariant, vtkDataSet* grid) const
{
  for (const ComposedVector& vector : this->Vectors) {
    const auto first = static_cast<std::size_t>(vector.Components.front());
    const std::optional<SubstituteArray>& substitute = this->Loaded.Substitutes[first];
    if (this->IsTimeInvariant(first) != timeInvariant ||
        (arrays[first]->Status != ArrayStatus::Read && !substitute)) {
      continue;
    }
    const ElementType type =
        arrays[first]->Status == ArrayStatus::Read ? arrays[first]->Type : substitute->Type;
    const std::string& name = this->Data.Variables[this->Variables[first].Variable].Name;
    vtkDataSetAttributes* attributes = grid->GetCellData();
    if (!attributes->HasArray(name.c_str())) {
      attributes = grid->GetPointData();
    }
    std::vector<vtkDataArray*> components;
    for (const int component : vector.Components) {
      const int variable = this->Variables[component].Variable;
      components.push_back(attributes->GetArray(this->Data.Variables[variable].Name.c_str()));
    }
    if (std::all_of(components.begin(), components.end(),
            [&](vtkDataArray* c) { return c && c->GetDataType() == components[0]->GetDataType(); })) {
      LoadedArray composed =
          ComposeVector(type, components, grid->GetNumberOfPoints(), this->Loaded.Memory());
      attributes->AddArray(MoveToVtkArray(composed, vector.Name));
    }
  }
}

/// Adds an array of NaN or 0 to a block that lacks the variable. Adds no array if LoadedStep::Substitutes has
/// no entry for the variable. VTK's filters require the same arrays on all blocks. Otherwise, some filters
/// crash, and other filters drop arrays without a message.
void PatchAssembler::AddSubstitute(std::size_t variable, vtkDataSet* grid)
{
  const std::optional<SubstituteArray>& substitute = this->Loaded.Substitutes[variable];
  if (substitute) {
    const VariableRequest& request = this->Variables[variable];
    vtkDataSetAttributes* const attributes =
        this->AttributesOf(variable, substitute->OfPoints && !this->PointsAsImages, grid);
    const vtkIdType tuples =
        attributes == grid->GetCellData() ? grid->GetNumberOfCells() : grid->GetNumberOfPoints();
    attributes->AddArray(this->Constants.MakeArray(this->Data.Variables[request.Variable].Name,
        substitute->Type, request.OutputComponents, tuples, grid->GetNumberOfPoints(), std::nullopt));
  }
}

vtkSmartPointer<vtkDataSet> PatchAssembler::MakeBlock(
    const Block& block, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays)
{
  vtkSmartPointer<vtkDataSet> grid = frame.Grid;
  if (this->Data.StepsInFile > 1) {
    grid = vtkSmartPointer<vtkDataSet>::Take(frame.Grid->NewInstance());
    grid->ShallowCopy(frame.Grid);
  }
  this->AddArrays(block, frame, arrays, false, grid);
  if (this->Options.HideUndefined && this->Loaded.HasUndefined && this->Data.Grid == GridType::Rectilinear) {
    HideUndefinedPoints(grid, this->UndefinedArrays(grid, arrays));
  }
  LimitRangesToVisible(grid, grid->GetCellGhostArray());
  return grid;
}

/// Returns the cells of the block's grid, including ghost layers.
Box PatchAssembler::CellsOf(const Block& block) const
{
  Box cells = GridCells(block);
  for (int axis = 0; axis < this->Data.Dimension; ++axis) {
    cells.Lower[axis] -= this->Options.Ghosts[axis];
    cells.Upper[axis] += this->Options.Ghosts[axis];
  }
  return cells;
}

/// Returns the point arrays with values from the file, also arrays that an earlier step has read; an empty
/// list if an array is defined at all points, because no point is then undefined in all arrays.
std::vector<vtkDataArray*> PatchAssembler::UndefinedArrays(
    vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const
{
  std::vector<vtkDataArray*> undefined;
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    const Variable& variable = this->Data.Variables[this->Variables[v].Variable];
    vtkDataArray* const array = grid->GetPointData()->GetArray(variable.Name.c_str());
    if (variable.Center != Centering::Node || !array || arrays[v]->Status == ArrayStatus::Absent) {
      continue;
    }
    if (arrays[v]->Status == ArrayStatus::Read && !arrays[v]->HasUndefined) {
      return {};
    }
    undefined.push_back(array);
  }
  return undefined;
}

/// Adds the ghost flags of the cells. If a block may have hidden cells, all blocks get flags, because filters
/// that join blocks, such as Merge Blocks, would otherwise drop the flags. If all cells are visible, no block
/// gets flags. Filters are then faster, and a volume needs fewer textures.
void PatchAssembler::AddGhostArray(const Block& block, vtkDataSet* grid)
{
  const Box cells = this->CellsOf(block);
  if (const vtkSmartPointer<vtkUnsignedCharArray> flags = this->Flags.FlagsOf(block, cells)) {
    grid->GetCellData()->AddArray(flags);
  } else if (this->HidesCells) {
    grid->GetCellData()->AddArray(this->Constants.MakeArray(vtkDataSetAttributes::GhostArrayName(),
        ElementType::UInt8, 1, cells.CellCount(), grid->GetNumberOfPoints(), 0.0));
  }
}

/// Returns `name`, followed by underscores if the data have a variable of this name, because an added array
/// must not replace an array that was read.
std::string PatchAssembler::UnusedName(std::string name) const
{
  while (this->Data.FindVariable(name) >= 0) {
    name += '_';
  }
  return name;
}

/// Adds the cell arrays "level", "rank", "patch id" and "patch owner". `hasBlockCells`: whether the cells of
/// the grid are CellsOf(block); false for images of points and meshes.
void PatchAssembler::AddOriginArrays(const Block& block, bool hasBlockCells, vtkDataSet* grid)
{
  const auto add = [&](const char* name, int value) {
    grid->GetCellData()->AddArray(this->Constants.MakeArray(this->UnusedName(name), ElementType::Int32, 1,
        grid->GetNumberOfCells(), grid->GetNumberOfPoints(), value));
  };
  add("level", block.Level);
  add("rank", this->Rank);
  if (!hasBlockCells) {  // the block has one patch
    add("patch id", block.Parts[0].Owner);
    add("patch owner", this->Data.Patches[block.Parts[0].Owner].Writer);
  } else {
    this->AddPatchIds(block, grid);
  }
}

/// Adds the arrays "patch id" and "patch owner". Cells of gaps and of ghost layers get -1. Otherwise,
/// Threshold would add cells of the ghost layers to the patch, and omit the faces between the patch and the
/// ghost layers.
void PatchAssembler::AddPatchIds(const Block& block, vtkDataSet* grid) const
{
  const Box cells = this->CellsOf(block);
  vtkNew<vtkIntArray> ids, owners;
  ids->SetName(this->UnusedName("patch id").c_str());
  owners->SetName(this->UnusedName("patch owner").c_str());
  for (vtkIntArray* array : {ids.Get(), owners.Get()}) {
    SetTuples(cells.CellCount(), array, grid->GetNumberOfPoints());
    array->FillValue(-1);
  }
  const auto mark = [&](const Box& box, int patch) {
    for (int k = box.Lower[2]; k <= box.Upper[2]; ++k) {
      for (int j = box.Lower[1]; j <= box.Upper[1]; ++j) {
        const std::size_t row = IndexIn(cells, {box.Lower[0], j, k});
        std::fill_n(ids->GetPointer(0) + row, box.Width(0), patch);
        std::fill_n(owners->GetPointer(0) + row, box.Width(0), this->Data.Patches[patch].Writer);
      }
    }
  };
  for (const OwnedBox& part : block.Parts) {
    mark(part.Cells, part.Owner);
  }
  this->InvalidateDuplicateIds(grid, {ids.Get(), owners.Get()});
  for (vtkIntArray* array : {ids.Get(), owners.Get()}) {
    ComputeRange(array);
    grid->GetCellData()->AddArray(array);
  }
}

/// Sets `arrays` to -1 at refined cells that became ghost cells, and at cells that another patch shows.
void PatchAssembler::InvalidateDuplicateIds(vtkDataSet* grid, const std::array<vtkIntArray*, 2>& arrays) const
{
  const vtkUnsignedCharArray* const flags = grid->GetCellGhostArray();
  for (vtkIdType cell = 0; flags && cell < flags->GetNumberOfTuples(); ++cell) {
    if (flags->GetValue(cell) == vtkDataSetAttributes::DUPLICATECELL) {
      arrays[0]->SetValue(cell, -1);
      arrays[1]->SetValue(cell, -1);
    }
  }
}

void PatchAssembler::AddFieldData(const Block& block, vtkDataSet* grid) const
{
  vtkFieldData* fieldData = grid->GetFieldData();
  fieldData->AllocateArrays(3);
  const bool isWholeBox =
      this->Data.RoleOf(block.Level) == LevelRole::Separate && block.Full && block.Origin == CutFrom::Nothing;
  if (block.Parts.size() == 1 || isWholeBox) {
    // The name of the block has the same number.
    fieldData->AddArray(
        MakeSingleValueArray<vtkIntArray>("patch", this->Data.Patches[block.Parts[0].Owner].Number));
  }
  fieldData->AddArray(this->LevelValues[static_cast<std::size_t>(block.Level)]);
  fieldData->AddArray(this->RankValue);
  const Axis& vertical = this->Data.Axes[2];
  const Box cells = this->CellsOf(block);
  if (!vertical.Labels.empty() && !this->Data.Levels[block.Level].IsFlat(2)) {
    vtkNew<vtkDoubleArray> labels;
    labels->SetName("levels");
    for (int k = cells.Lower[2]; k <= cells.Upper[2] + 1; ++k) {
      labels->InsertNextValue(vertical.Labels[k - vertical.First]);
    }
    fieldData->AddArray(labels);
  }
}

}  // namespace patchio
