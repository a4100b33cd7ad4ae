#include "PatchAssembler.h"

#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkInformation.h>
#include <vtkIntArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkStructuredGrid.h>
#include <vtkTypeInt64Array.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>

#include <cassert>

namespace patchio {
namespace {

vtkSmartPointer<vtkDataArray> MakeDataArray(ElementType type)
{
  switch (type) {
    case ElementType::Int32:
      return vtkSmartPointer<vtkIntArray>::New();
    case ElementType::Int64:
      return vtkSmartPointer<vtkTypeInt64Array>::New();
    case ElementType::UInt8:
      return vtkSmartPointer<vtkUnsignedCharArray>::New();
    case ElementType::Float64:
      return vtkSmartPointer<vtkDoubleArray>::New();
    case ElementType::Float32:
      break;
  }
  return vtkSmartPointer<vtkFloatArray>::New();
}

/// Hands the values over without a copy; the array frees them.
vtkSmartPointer<vtkDataArray> TakeOver(LoadedArray& loaded, const std::string& name)
{
  vtkSmartPointer<vtkDataArray> array = MakeDataArray(loaded.Type);
  array->SetName(name.c_str());
  array->SetNumberOfComponents(loaded.Components);
  array->SetVoidArray(loaded.Values.release(), loaded.Tuples * loaded.Components, 0,
      vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  array->SetArrayFreeFunction(FreeSlice);
  return array;
}

template <typename ArrayType, typename Value>
void AddValue(vtkFieldData* fieldData, const char* name, Value value)
{
  vtkNew<ArrayType> array;
  array->SetName(name);
  array->InsertNextValue(value);
  fieldData->AddArray(array);
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

PatchAssembler::PatchAssembler(
    const Catalog& catalog, const std::vector<bool>& shown, const Int3& ghosts, bool blankRefined, int rank)
    : Data(catalog), Ghosts(ghosts), BlankRefined(blankRefined), Rank(rank), Nests(catalog, shown)
{
}

void PatchAssembler::BuildTree(vtkMultiBlockDataSet* output, int firstLevel, int lastLevel) const
{
  const int levels = static_cast<int>(this->Data.Levels.size());
  output->SetNumberOfBlocks(levels);
  for (int l = 0; l < levels; ++l) {
    vtkNew<vtkMultiPieceDataSet> pieces;
    if (l >= firstLevel && l <= lastLevel) {
      pieces->SetNumberOfPieces(this->Data.Levels[l].PatchCount);
      for (int i = 0; i < this->Data.Levels[l].PatchCount; ++i) {
        const int number = this->Data.Patches[this->Data.Levels[l].FirstPatch + i].Number;
        pieces->GetMetaData(i)->Set(vtkCompositeDataSet::NAME(), ("patch " + std::to_string(number)).c_str());
      }
    }
    output->SetBlock(l, pieces);
    output->GetMetaData(l)->Set(vtkCompositeDataSet::NAME(), ("level " + std::to_string(l)).c_str());
  }
  AddValue<vtkDoubleArray>(output->GetFieldData(), "time", this->Data.Time);
  AddValue<vtkTypeInt64Array>(output->GetFieldData(), "step", this->Data.Step);
}

void PatchAssembler::AddPatch(
    vtkMultiBlockDataSet* output, const LoadRequest& request, LoadResult& loaded, std::size_t position) const
{
  const int number = request.Patches[position];
  const Patch& patch = this->Data.Patches[number];
  LoadedArray* coordinates = nullptr;
  for (std::size_t v = 0; v < request.Variables.size(); ++v) {
    if (request.Variables[v].Variable == this->Data.CoordinatesVariable) {
      coordinates = &loaded.At(position, v);
    }
  }
  const vtkSmartPointer<vtkDataSet> grid = this->MakeGrid(number, coordinates);
  for (std::size_t v = 0; v < request.Variables.size(); ++v) {
    const Variable& variable = this->Data.Variables[request.Variables[v].Variable];
    LoadedArray& array = loaded.At(position, v);
    if (&array != coordinates && array.Status == ArrayStatus::Read) {
      vtkDataSetAttributes* attributes = variable.Center == Centering::Cell
                                             ? static_cast<vtkDataSetAttributes*>(grid->GetCellData())
                                             : static_cast<vtkDataSetAttributes*>(grid->GetPointData());
      attributes->AddArray(TakeOver(array, variable.Name));
    }
  }
  this->AddGhostArray(number, grid);
  this->AddFieldData(number, grid);
  auto* pieces = vtkMultiPieceDataSet::SafeDownCast(output->GetBlock(patch.Level));
  pieces->SetPiece(number - this->Data.Levels[patch.Level].FirstPatch, grid);
}

void PatchAssembler::GridExtent(int patch, int extent[6]) const
{
  const Box& box = this->Data.Patches[patch].Cells;
  for (int axis = 0; axis < 3; ++axis) {
    const bool used = axis < this->Data.Dimension;
    extent[2 * axis] = used ? box.Lower[axis] - this->Ghosts[axis] : 0;
    extent[2 * axis + 1] = used ? box.Upper[axis] + 1 + this->Ghosts[axis] : 0;
  }
}

vtkSmartPointer<vtkDataSet> PatchAssembler::MakeGrid(int patch, LoadedArray* coordinates) const
{
  int extent[6];
  this->GridExtent(patch, extent);
  if (this->Data.Grid == GridKind::Curvilinear) {
    assert(coordinates && coordinates->Status == ArrayStatus::Read);
    vtkNew<vtkPoints> points;
    points->SetData(TakeOver(*coordinates, "Coords"));
    auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
    grid->SetExtent(extent);
    grid->SetPoints(points);
    return grid;
  }
  // Extents in the level's index space with the level's origin: nodes that two patches share get the same
  // coordinates to the last bit.
  const Level& level = this->Data.Levels[this->Data.Patches[patch].Level];
  auto grid = vtkSmartPointer<vtkUniformGrid>::New();
  grid->SetOrigin(this->Data.Origin.data());
  grid->SetSpacing(level.Spacing.data());
  grid->SetExtent(extent);
  return grid;
}

void PatchAssembler::AddGhostArray(int patch, vtkDataSet* grid) const
{
  const std::vector<std::uint8_t> covered =
      this->BlankRefined ? this->Nests.CoveredCells(patch) : std::vector<std::uint8_t>();
  const bool layers = this->Ghosts != Int3{0, 0, 0};
  if (covered.empty() && !layers) {
    return;
  }
  const auto inner = this->Data.ArrayDims(patch, Centering::Cell, {0, 0, 0});
  const auto outer = this->Data.ArrayDims(patch, Centering::Cell, this->Ghosts);
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(vtkDataSetAttributes::GhostArrayName());
  flags->SetNumberOfTuples(outer[0] * outer[1] * outer[2]);
  flags->FillValue(0);
  if (layers) {
    this->MarkLayers(patch, flags);
  }
  std::size_t cell = 0;
  for (std::int64_t k = 0; k < inner[2]; ++k) {
    for (std::int64_t j = 0; j < inner[1]; ++j) {
      vtkIdType to = ((k + this->Ghosts[2]) * outer[1] + j + this->Ghosts[1]) * outer[0] + this->Ghosts[0];
      for (std::int64_t i = 0; i < inner[0]; ++i, ++cell, ++to) {
        const bool hidden = !covered.empty() && covered[cell] != 0;
        flags->SetValue(to, hidden ? vtkDataSetAttributes::REFINEDCELL : 0);
      }
    }
  }
  grid->GetCellData()->AddArray(flags);
}

/// Layers that repeat cells of a shown patch join the patches; layers where nothing else is shown, beyond the
/// domain above all, are hidden, or the surface of the domain would count as the inside and not be drawn.
void PatchAssembler::MarkLayers(int patch, vtkUnsignedCharArray* flags) const
{
  const std::vector<std::uint8_t> shared = this->Nests.SharedCells(patch, this->Ghosts);
  for (std::size_t cell = 0; cell < shared.size(); ++cell) {
    const int hidden = shared[cell] ? 0 : vtkDataSetAttributes::HIDDENCELL;
    flags->SetValue(static_cast<vtkIdType>(cell),
        static_cast<unsigned char>(vtkDataSetAttributes::DUPLICATECELL | hidden));
  }
}

void PatchAssembler::AddFieldData(int patch, vtkDataSet* grid) const
{
  vtkFieldData* fieldData = grid->GetFieldData();
  AddValue<vtkIntArray>(fieldData, "patch", patch);
  AddValue<vtkIntArray>(fieldData, "level", this->Data.Patches[patch].Level);
  AddValue<vtkIntArray>(fieldData, "rank", this->Rank);
}

}  // namespace patchio
