#include "PatchAssembler.h"

#include "KnownRanges.h"
#include "PointGrids.h"

#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
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
#include <vtkStringArray.h>
#include <vtkStructuredGrid.h>
#include <vtkTypeInt64Array.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace patchio {
namespace {

template <typename ArrayType, typename Value>
vtkSmartPointer<ArrayType> MakeValue(const char* name, Value value)
{
  auto array = vtkSmartPointer<ArrayType>::New();
  array->SetName(name);
  array->InsertNextValue(value);
  return array;
}

/// Of cells that finer patches hide. Filters leave refined cells in what they make and not all after them
/// know the flag (Integrate Variables does not), but all know duplicates. To hide them would do as well, were
/// it not that vtkCellDataToPointData then takes no value of theirs, and contours miss the finer level by
/// far.
constexpr unsigned char Refined = vtkDataSetAttributes::REFINEDCELL | vtkDataSetAttributes::DUPLICATECELL;

/// Leaves only those points marked whose value is no number; false when none is left.
template <typename Value>
bool KeepUndefined(const Value* values, std::vector<unsigned char>& marks)
{
  unsigned char any = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    marks[i] &= static_cast<unsigned char>(values[i] != values[i]);
    any |= marks[i];
  }
  return any != 0;
}

bool KeepUndefined(vtkDataArray* array, std::vector<unsigned char>& marks)
{
  if (array->GetNumberOfComponents() != 1) {
    return false;
  }
  if (auto* floats = vtkFloatArray::SafeDownCast(array)) {
    return KeepUndefined(floats->GetPointer(0), marks);
  }
  auto* doubles = vtkDoubleArray::SafeDownCast(array);
  return doubles && KeepUndefined(doubles->GetPointer(0), marks);
}

/// Hides the cells with a corner that is marked.
void HideCellsOf(const std::vector<unsigned char>& marks, vtkDataSet* grid)
{
  // Those that are there may belong to the grids of other steps, too.
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  if (vtkUnsignedCharArray* const before = grid->GetCellGhostArray()) {
    flags->DeepCopy(before);
  } else {
    flags->SetNumberOfTuples(grid->GetNumberOfCells());
    flags->FillValue(0);
  }
  int dims[3];
  auto* rectilinear = vtkRectilinearGrid::SafeDownCast(grid);
  rectilinear ? rectilinear->GetDimensions(dims) : vtkStructuredGrid::SafeDownCast(grid)->GetDimensions(dims);
  const std::array<vtkIdType, 3> strides{1, dims[0], vtkIdType(dims[0]) * dims[1]};
  vtkIdType cell = 0;
  const auto cells = [&dims](int axis) { return std::max(dims[axis] - 1, 1); };
  for (int k = 0; k < cells(2); ++k) {
    for (int j = 0; j < cells(1); ++j) {
      for (int i = 0; i < cells(0); ++i, ++cell) {
        const unsigned char* corner = marks.data() + i + j * strides[1] + k * strides[2];
        unsigned char any = 0;
        for (int c = 0; c < 8; ++c) {
          any |= corner[(c & 1 && dims[0] > 1 ? strides[0] : 0) + (c & 2 && dims[1] > 1 ? strides[1] : 0) +
                        (c & 4 && dims[2] > 1 ? strides[2] : 0)];
        }
        if (any) {
          flags->SetValue(cell, flags->GetValue(cell) | vtkDataSetAttributes::HIDDENCELL);
        }
      }
    }
  }
  FindRange(flags);
  grid->GetCellData()->AddArray(flags);
}

bool HasVisible(const Box& grid, const Box& cells, const unsigned char* flags)
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

VariableRequest RequestForVtk(const Catalog& catalog, int variable, const Int3& ghosts)
{
  VariableRequest request = RequestAsStored(catalog, variable);
  request.Ghosts = ghosts;
  if (catalog.Dimension == 2 && request.OutputComponents == 2) {
    request.OutputComponents = 3;
  } else if (catalog.Dimension == 2 && request.OutputComponents == 4) {
    request.OutputComponents = 9;
    request.Slots = {0, 1, 3, 4};
  }
  return request;
}

PatchAssembler::PatchAssembler(const Catalog& catalog, const Nesting& nesting,
    const std::vector<VariableRequest>& variables, const Int3& ghosts, const AssemblyOptions& options,
    SlabPool& memory)
    : Data(catalog),
      Nests(nesting),
      Variables(variables),
      Ghosts(ghosts),
      Options(options),
      Memory(memory),
      Constants(memory)
{
  this->RankValue = MakeValue<vtkIntArray>("rank", options.Rank);
  for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
    this->LevelValues.push_back(MakeValue<vtkIntArray>("level", static_cast<int>(level)));
  }
  if (options.Vectors && !(options.Sphere && catalog.Geographic)) {
    this->Vectors = this->ComposedVectors();
  }
}

PatchAssembler::~PatchAssembler() = default;

/// The positions of variables in the list of those that are read.
std::vector<ComposedVector> PatchAssembler::ComposedVectors() const
{
  std::vector<int> wanted;
  for (const VariableRequest& request : this->Variables) {
    wanted.push_back(request.Variable);
  }
  std::vector<ComposedVector> vectors = VectorsAmong(this->Data, wanted);
  for (ComposedVector& vector : vectors) {
    for (int& component : vector.Components) {
      component = static_cast<int>(std::find(wanted.begin(), wanted.end(), component) - wanted.begin());
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
  output->GetFieldData()->AddArray(MakeValue<vtkDoubleArray>("time", this->Data.Time));
  output->GetFieldData()->AddArray(MakeValue<vtkTypeInt64Array>("step", this->Data.Step));
  if (!this->Data.Date.empty()) {
    output->GetFieldData()->AddArray(MakeValue<vtkStringArray>("date", this->Data.Date));
  }
}

/// True where the variable's values hold for all steps of the file; if it has only one, there is nothing to
/// keep apart.
bool PatchAssembler::IsSteady(std::size_t variable) const
{
  return this->Data.StepsInFile == 1 || this->Data.Variables[this->Variables[variable].Variable].Steady;
}

/// True for variables that make the grid and are no data.
bool PatchAssembler::IsGeometry(std::size_t variable) const
{
  const int number = this->Variables[variable].Variable;
  return number == this->Data.CoordinatesVariable || this->Data.Variables[number].Positions;
}

BlockFrame PatchAssembler::MakeFrame(const Block& block, const std::vector<LoadedArray*>& arrays)
{
  const int wanted =
      this->IsPoints(block) ? this->Data.PositionsOf(block.Level) : this->Data.CoordinatesVariable;
  LoadedArray* geometry = nullptr;
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (this->Variables[v].Variable == wanted) {
      geometry = arrays[v];
    }
  }
  BlockFrame frame;
  if (this->IsPoints(block)) {
    frame = this->MakePoints(block, geometry);
  } else {
    frame.Grid = this->MakeGrid(block, geometry);
  }
  frame.Grid->GetCellData()->AllocateArrays(
      static_cast<int>(arrays.size()) + 1);  // at once: each growth moves all
  this->AddArrays(block, frame, arrays, true, frame.Grid);
  const bool image = !frame.CellOfPoint.empty();
  if (!image) {  // else flags are the image's own
    this->AddGhostArray(block, frame.Grid);
  }
  if (this->Options.PatchIds) {
    this->AddOrigin(block, image, frame.Grid);
  }
  this->AddFieldData(block, frame.Grid);
  return frame;
}

BlockFrame PatchAssembler::MakePoints(const Block& block, const LoadedArray* positions) const
{
  assert(positions && positions->Status == ArrayStatus::Read);
  const int variable = this->Data.PositionsOf(block.Level);
  const PointPlaces places(this->Data, *positions, this->Data.Variables[variable].Name);
  BlockFrame frame;
  if (this->Options.PointsAsImage) {
    PointImage image = MakePointImage(this->Data, block.Level, places);
    frame.Grid = image.Grid;
    frame.CellOfPoint = std::move(image.CellOfPoint);
  } else {
    frame.Grid = MakePointSet(this->Data, block.Level, places);
  }
  return frame;
}

/// Values of points that are no image are VTK's point data.
vtkDataSetAttributes* PatchAssembler::AttributesOf(
    std::size_t variable, bool ofPoints, vtkDataSet* grid) const
{
  const Variable& info = this->Data.Variables[this->Variables[variable].Variable];
  if (info.Center == Centering::Cell && !ofPoints) {
    return grid->GetCellData();
  }
  return grid->GetPointData();
}

/// Of the steady variables, or of the others.
void PatchAssembler::AddArrays(const Block& block, const BlockFrame& frame,
    const std::vector<LoadedArray*>& arrays, bool steady, vtkDataSet* grid)
{
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    if (this->IsSteady(v) != steady || this->IsGeometry(v)) {
      continue;
    }
    if (arrays[v]->Status == ArrayStatus::Absent) {
      this->AddBlank(v, grid);
    }
    if (arrays[v]->Status != ArrayStatus::Read) {
      continue;
    }
    LoadedArray scattered;
    if (!frame.CellOfPoint.empty()) {
      scattered = Scatter(*arrays[v], frame.CellOfPoint, grid->GetNumberOfCells(), this->Memory);
    }
    LoadedArray& array = scattered.Values ? scattered : *arrays[v];
    const std::string& name = this->Data.Variables[this->Variables[v].Variable].Name;
    this->AttributesOf(v, this->BecomesPoints(block), grid)->AddArray(TakeOver(array, name));
  }
  this->AddVectors(arrays, steady, grid);
}

/// Those whose components all are in the grid.
void PatchAssembler::AddVectors(const std::vector<LoadedArray*>& arrays, bool steady, vtkDataSet* grid) const
{
  for (const ComposedVector& vector : this->Vectors) {
    const auto first = static_cast<std::size_t>(vector.Components.front());
    const std::optional<BlankArray>& blank = this->Options.Blanks[first];
    if (this->IsSteady(first) != steady || (arrays[first]->Status != ArrayStatus::Read && !blank)) {
      continue;
    }
    const ElementType type = arrays[first]->Status == ArrayStatus::Read ? arrays[first]->Type : blank->Type;
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
      LoadedArray composed = ComposeVector(type, components, this->Memory);
      attributes->AddArray(TakeOver(composed, vector.Name));
    }
  }
}

/// Filters of VTK want the same arrays on all blocks: some end in a crash where they are not, others leave
/// out without a word what is not everywhere.
void PatchAssembler::AddBlank(std::size_t variable, vtkDataSet* grid)
{
  const std::optional<BlankArray>& blank = this->Options.Blanks[variable];
  if (blank) {
    const VariableRequest& request = this->Variables[variable];
    vtkDataSetAttributes* const attributes =
        this->AttributesOf(variable, blank->OfPoints && !this->Options.PointsAsImage, grid);
    const vtkIdType tuples =
        attributes == grid->GetCellData() ? grid->GetNumberOfCells() : grid->GetNumberOfPoints();
    attributes->AddArray(this->Constants.Make(this->Data.Variables[request.Variable].Name, blank->Type,
        request.OutputComponents, tuples, std::nullopt));
  }
}

void PatchAssembler::AddBlock(vtkMultiBlockDataSet* output, const std::vector<Block>& blocks,
    std::size_t number, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays)
{
  const Block& block = blocks[number];
  vtkSmartPointer<vtkDataSet> grid = frame.Grid;
  if (this->Data.StepsInFile > 1) {
    grid = vtkSmartPointer<vtkDataSet>::Take(frame.Grid->NewInstance());
    grid->ShallowCopy(frame.Grid);
  }
  this->AddArrays(block, frame, arrays, false, grid);
  if (this->Options.HideUndefined && this->Data.Grid == GridKind::Rectilinear) {
    this->HideUndefined(grid, arrays);
  }
  LimitRangesToVisible(grid);
  const auto first = std::partition_point(
      blocks.begin(), blocks.end(), [&](const Block& other) { return other.Level < block.Level; });
  auto* pieces = vtkMultiPieceDataSet::SafeDownCast(output->GetBlock(block.Level));
  pieces->SetPiece(static_cast<unsigned int>(&block - &*first), grid);
}

/// The cells of the block's grid.
Box PatchAssembler::CellsOf(const Block& block) const
{
  Box cells = GridCells(block);
  for (int axis = 0; axis < this->Data.Dimension; ++axis) {
    cells.Lower[axis] -= this->Ghosts[axis];
    cells.Upper[axis] += this->Ghosts[axis];
  }
  return cells;
}

void PatchAssembler::GridExtent(const Block& block, int extent[6]) const
{
  const Box box = this->CellsOf(block);
  for (int axis = 0; axis < 3; ++axis) {
    extent[2 * axis] = box.Lower[axis];
    extent[2 * axis + 1] = box.Upper[axis] + this->Data.NodesBeyondCells(block.Level, axis);
  }
}

vtkSmartPointer<vtkDataSet> PatchAssembler::MakeGrid(const Block& block, LoadedArray* coordinates) const
{
  int extent[6];
  this->GridExtent(block, extent);
  if (this->Data.Grid == GridKind::Curvilinear) {
    assert(coordinates && coordinates->Status == ArrayStatus::Read);
    vtkNew<vtkPoints> points;
    points->SetData(TakeOver(*coordinates, "Coords"));
    auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
    grid->SetExtent(extent);
    grid->SetPoints(points);
    return grid;
  }
  if (this->Data.Grid == GridKind::Rectilinear) {
    return this->Options.Sphere && this->Data.Geographic ? this->MakeSphericalGrid(extent)
                                                         : this->MakeRectilinearGrid(extent);
  }
  // Extents in the level's index space with the level's origin: nodes that two blocks share get the same
  // coordinates to the last bit.
  auto grid = vtkSmartPointer<vtkUniformGrid>::New();
  grid->SetOrigin(this->Data.Origin.data());
  grid->SetSpacing(this->Data.Levels[block.Level].Spacing.data());
  grid->SetExtent(extent);
  return grid;
}

std::vector<double> PatchAssembler::PositionsOf(int axis, const int extent[6]) const
{
  const Axis& positions = this->Data.Axes[axis];
  const auto first = positions.Positions.begin() + (extent[2 * axis] - positions.First);
  return {first, first + (extent[2 * axis + 1] - extent[2 * axis] + 1)};
}

vtkSmartPointer<vtkDataSet> PatchAssembler::MakeRectilinearGrid(const int extent[6]) const
{
  auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  const auto coordinates = [&](int axis) {
    auto array = vtkSmartPointer<vtkDoubleArray>::New();
    for (const double position : this->PositionsOf(axis, extent)) {
      array->InsertNextValue(position);
    }
    return array;
  };
  grid->SetXCoordinates(coordinates(0));
  grid->SetYCoordinates(coordinates(1));
  grid->SetZCoordinates(coordinates(2));
  return grid;
}

/// A degree of the equator has length 1, as it has on the plane, and heights are the same.
vtkSmartPointer<vtkDataSet> PatchAssembler::MakeSphericalGrid(const int extent[6]) const
{
  const double degree = vtkMath::RadiansFromDegrees(1.0);
  const std::vector<double> longitudes = this->PositionsOf(0, extent);
  const std::vector<double> latitudes = this->PositionsOf(1, extent);
  vtkNew<vtkFloatArray> positions;
  positions->SetNumberOfComponents(3);
  float* next = positions->WritePointer(
      0, 3 * static_cast<vtkIdType>(longitudes.size() * latitudes.size()) * (extent[5] - extent[4] + 1));
  for (const double height : this->PositionsOf(2, extent)) {
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

/// Marks the points that no array has a value for.
std::vector<unsigned char> PatchAssembler::UndefinedPoints(
    vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const
{
  const std::vector<unsigned char> none(grid->GetNumberOfPoints(), 0);
  std::vector<unsigned char> undefined(grid->GetNumberOfPoints(), 1);
  bool any = false;
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    const Variable& variable = this->Data.Variables[this->Variables[v].Variable];
    if (variable.Center != Centering::Node || arrays[v]->Status != ArrayStatus::Read) {
      continue;
    }
    vtkDataArray* array = grid->GetPointData()->GetArray(variable.Name.c_str());
    if (!arrays[v]->HasUndefined || !KeepUndefined(array, undefined)) {
      return none;
    }
    any = true;
  }
  return any ? undefined : none;
}

/// Hides what no array has a value for, and the cells that would need it: NaN has no color, and filters make
/// anything of it. All blocks get the flags, as they should have the same arrays.
void PatchAssembler::HideUndefined(vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const
{
  const std::vector<unsigned char> undefined = this->UndefinedPoints(grid, arrays);
  vtkNew<vtkUnsignedCharArray> points;
  points->SetName(vtkDataSetAttributes::GhostArrayName());
  points->SetNumberOfTuples(grid->GetNumberOfPoints());
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    points->SetValue(i, undefined[i] ? vtkDataSetAttributes::HIDDENPOINT : 0);
  }
  FindRange(points);
  grid->GetPointData()->AddArray(points);
  HideCellsOf(undefined, grid);
}

/// Also where all cells are to be seen: filters that put blocks together, such as Merge Blocks, would
/// otherwise drop the flags of the others, and those that go through time steps count on the same arrays in
/// each. Boxes beside each other hide nothing in any step.
void PatchAssembler::AddGhostArray(const Block& block, vtkDataSet* grid)
{
  const Box cells = this->CellsOf(block);
  const bool grown = !(cells == block.Cells);
  const bool layers = grown || this->Options.GhostLayer;
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  flags->SetNumberOfTuples(cells.Cells());
  flags->FillValue(block.Full && !layers ? 0 : vtkDataSetAttributes::HIDDENCELL);
  unsigned char* const values = flags->GetPointer(0);
  if (layers) {
    this->MarkLayers(block, values);
  }
  bool hides = !block.Full || grown;
  for (const OwnedBox& part : block.Parts) {
    if (!block.Full || layers) {
      MarkBox(cells, part.Cells, 0, values);
    }
    hides = this->MarkCellsOfOthers(part, cells, values) || hides;
    hides = this->MarkRefined(part, cells, values) || hides;
  }
  if (block.Origin == CutFrom::BlockWithGaps) {
    this->HideRefined(block, cells, values);
  }
  if (this->Options.GhostLayer || block.Origin == CutFrom::BlockWithoutGaps) {
    this->MakeBorderOfRefined(cells, values);
  }
  if (hides) {
    FindRange(flags);
    grid->GetCellData()->AddArray(flags);
  } else if (this->Data.RoleOf(block.Level) == LevelRole::Refinement) {
    grid->GetCellData()->AddArray(this->Constants.Make(
        vtkDataSetAttributes::GhostArrayName(), ElementType::UInt8, 1, cells.Cells(), 0.0));
  }
}

/// Where patches of a level overlap, each place is drawn and counted once. Parts of merged blocks have only
/// what is their patch's own.
bool PatchAssembler::MarkCellsOfOthers(const OwnedBox& part, const Box& grid, unsigned char* flags) const
{
  if (!this->Nests.LosesCells(part.Owner) || !(part.Cells == this->Data.Patches[part.Owner].Cells)) {
    return false;
  }
  MarkBox(grid, part.Cells, vtkDataSetAttributes::DUPLICATECELL, flags);
  for (const Box& own : this->Nests.OwnCells(part.Owner)) {
    MarkBox(grid, own, 0, flags);
  }
  return true;
}

/// Marks the cells of a part that finer patches hide; false when there are none.
bool PatchAssembler::MarkRefined(const OwnedBox& part, const Box& grid, unsigned char* flags) const
{
  const std::vector<std::uint8_t> covered =
      this->Options.BlankRefined ? this->Nests.CoveredCells(part.Owner) : std::vector<std::uint8_t>();
  if (covered.empty()) {
    return false;
  }
  bool found = false;
  const Box& patch = this->Data.Patches[part.Owner].Cells;
  for (int k = part.Cells.Lower[2]; k <= part.Cells.Upper[2]; ++k) {
    for (int j = part.Cells.Lower[1]; j <= part.Cells.Upper[1]; ++j) {
      const std::uint8_t* from = covered.data() + IndexIn(patch, {part.Cells.Lower[0], j, k});
      unsigned char* to = flags + IndexIn(grid, {part.Cells.Lower[0], j, k});
      for (int i = part.Cells.Lower[0]; i <= part.Cells.Upper[0]; ++i, ++from, ++to) {
        *to = *from ? Refined : *to;
        found = found || *from;
      }
    }
  }
  return found;
}

/// Lets filters take nothing from refined cells, as they do where a grid has hidden ones.
void PatchAssembler::HideRefined(const Block& block, const Box& grid, unsigned char* flags) const
{
  for (const Region& region : block.Fringe) {
    this->MarkRefined({region.Cells, region.Owner}, grid, flags);
  }
  std::replace(flags, flags + grid.Cells(), Refined,
      static_cast<unsigned char>(Refined | vtkDataSetAttributes::HIDDENCELL));
}

/// Refined cells beside visible ones become ghost cells: the neighbours' layers have them as such, and what
/// cells give to nodes must be the same in all blocks. (vtkCellDataToPointData takes ghost cells, and takes
/// refined ones only where a grid has no hidden cell.)
void PatchAssembler::MakeBorderOfRefined(const Box& grid, unsigned char* flags) const
{
  for (int k = grid.Lower[2]; k <= grid.Upper[2]; ++k) {
    for (int j = grid.Lower[1]; j <= grid.Upper[1]; ++j) {
      for (int i = grid.Lower[0]; i <= grid.Upper[0]; ++i) {
        unsigned char& flag = flags[IndexIn(grid, {i, j, k})];
        if (flag == Refined &&
            HasVisible(grid, Intersect(grid, {{i - 1, j - 1, k - 1}, {i + 1, j + 1, k + 1}}), flags)) {
          flag = vtkDataSetAttributes::DUPLICATECELL;
        }
      }
    }
  }
}

/// Layers that repeat cells of a shown patch join the blocks; layers where nothing else is shown, beyond the
/// domain above all, are hidden, or the surface of the domain would count as the inside and not be drawn.
void PatchAssembler::MarkLayers(const Block& block, unsigned char* flags) const
{
  const Box cells = this->CellsOf(block);
  if (this->Ghosts == Int3{0, 0, 0}) {
    std::fill_n(flags, cells.Cells(),
        static_cast<unsigned char>(vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::HIDDENCELL));
    for (const Region& region : block.Fringe) {
      MarkBox(cells, region.Cells, vtkDataSetAttributes::DUPLICATECELL, flags);
    }
    return;
  }
  // Layers from the files: the block is a patch.
  const std::vector<std::uint8_t> shared = this->Nests.SharedCells(block.Parts[0].Owner, this->Ghosts);
  for (std::size_t cell = 0; cell < shared.size(); ++cell) {
    const int hidden = shared[cell] ? 0 : vtkDataSetAttributes::HIDDENCELL;
    flags[cell] = static_cast<unsigned char>(vtkDataSetAttributes::DUPLICATECELL | hidden);
  }
}

/// The name, or one like it that is no variable of the dump: an array added must not replace one that was
/// read.
std::string PatchAssembler::FreeName(std::string name) const
{
  while (this->Data.FindVariable(name) >= 0) {
    name += '_';
  }
  return name;
}

/// Where cells come from, for the list of colours.
void PatchAssembler::AddOrigin(const Block& block, bool image, vtkDataSet* grid)
{
  const auto add = [&](const char* name, int value) {
    grid->GetCellData()->AddArray(
        this->Constants.Make(this->FreeName(name), ElementType::Int32, 1, grid->GetNumberOfCells(), value));
  };
  add("level", block.Level);
  add("rank", this->Options.Rank);
  if (image) {  // of one patch
    add("patch id", block.Parts[0].Owner);
    add("patch owner", this->Data.Patches[block.Parts[0].Owner].Writer);
  } else {
    this->AddPatchIds(block, grid);
  }
}

/// Cells of gaps and of ghost layers are of no patch, -1: else Threshold would take cells of the layer for
/// some of the patch, and leave out the faces between these and the patch's own as inner ones.
void PatchAssembler::AddPatchIds(const Block& block, vtkDataSet* grid) const
{
  const Box cells = this->CellsOf(block);
  vtkNew<vtkIntArray> ids, owners;
  ids->SetName(this->FreeName("patch id").c_str());
  owners->SetName(this->FreeName("patch owner").c_str());
  for (vtkIntArray* array : {ids.Get(), owners.Get()}) {
    array->SetNumberOfTuples(cells.Cells());
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
  this->TakeDuplicates(grid, {ids.Get(), owners.Get()});
  for (vtkIntArray* array : {ids.Get(), owners.Get()}) {
    FindRange(array);
    grid->GetCellData()->AddArray(array);
  }
}

/// Refined cells that have become ghost cells, and those that another patch has too, are of no patch either.
void PatchAssembler::TakeDuplicates(vtkDataSet* grid, const std::array<vtkIntArray*, 2>& arrays) const
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
  if (block.Parts.size() == 1) {
    // As in the block's name.
    fieldData->AddArray(MakeValue<vtkIntArray>("patch", this->Data.Patches[block.Parts[0].Owner].Number));
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
