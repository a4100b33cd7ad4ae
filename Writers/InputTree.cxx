#include "InputTree.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Filters/VtkVersions.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataArray.h>
#include <vtkDataObjectTree.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkSmartPointer.h>
#include <vtkUniformGrid.h>
#include <vtkUniformGridAMR.h>

#include <charconv>

namespace patchio {

namespace {

/// Returns the members that are plain values, which are all members except axes and arrays.
template <typename Form>
auto PlainMembers(Form& piece)
{
  return std::tie(piece.Rank, piece.Grid, piece.Kind, piece.Group, piece.Name, piece.Piece, piece.Level,
      piece.Number, piece.Hides, piece.FlatAxes, piece.Cells, piece.Whole, piece.Origin, piece.Spacing,
      piece.IsPlane, piece.Mesh);
}

template <typename Form>
auto MembersOfAxis(Form& axis)
{
  return std::tie(axis.First, axis.Positions, axis.Labels);
}

template <typename Form>
auto MembersOfArray(Form& array)
{
  return std::tie(array.Name, array.Center, array.Components, array.Type, array.HidesUndefined, array.IsBlank,
      array.Positions, array.Role, array.CellList);
}

}  // namespace

Box NodesOf(const PieceForm& piece, const Box& cells)
{
  Box nodes = cells;
  for (int axis = 0; axis < 3; ++axis) {
    nodes.Upper[axis] += (piece.FlatAxes >> axis & 1) != 0 ? 0 : 1;
  }
  return nodes;
}

std::vector<std::byte> BytesOf(const std::vector<PieceForm>& pieces)
{
  ByteWriter writer;
  writer.Put<std::uint64_t>(pieces.size());
  for (const PieceForm& piece : pieces) {
    writer.Put(PlainMembers(piece));
    for (const Axis& axis : piece.Axes) {
      writer.Put(MembersOfAxis(axis));
    }
    writer.Put<std::uint64_t>(piece.Arrays.size());
    for (const ArrayForm& array : piece.Arrays) {
      writer.Put(MembersOfArray(array));
    }
  }
  return writer.Take();
}

void TakePieces(const std::string& bytes, std::vector<PieceForm>& pieces)
{
  ByteReader reader(bytes);
  for (auto left = reader.Get<std::uint64_t>(); left > 0; --left) {
    PieceForm& piece = pieces.emplace_back();
    reader.Get(PlainMembers(piece));
    for (Axis& axis : piece.Axes) {
      reader.Get(MembersOfAxis(axis));
    }
    for (auto arrays = reader.Get<std::uint64_t>(); arrays > 0; --arrays) {
      reader.Get(MembersOfArray(piece.Arrays.emplace_back()));
    }
  }
}

namespace {

class Walk
{
public:
  void Visit(vtkDataObject* data, const std::vector<int>& group, const std::string& name);

  std::vector<InputGrid> Found;

private:
  void AddGrid(vtkDataObject* data, InputGrid where);
  void VisitLevels(vtkUniformGridAMR* levels, const InputGrid& where);
  void VisitPieces(vtkPartitionedDataSet* pieces, const InputGrid& where);
  template <typename Tree>
  void VisitBlocks(Tree* tree, unsigned int count, const InputGrid& where);
};

void Walk::Visit(vtkDataObject* data, const std::vector<int>& group, const std::string& name)
{
  InputGrid where;
  where.Group = group;
  where.Name = name;
  where.Level = LevelInName(name);
  if (auto* levels = vtkUniformGridAMR::SafeDownCast(data)) {
    this->VisitLevels(levels, where);
  } else if (auto* pieces = vtkPartitionedDataSet::SafeDownCast(data)) {
    this->VisitPieces(pieces, where);
  } else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(data)) {
    this->VisitBlocks(blocks, blocks->GetNumberOfBlocks(), where);
  } else if (auto* sets = vtkPartitionedDataSetCollection::SafeDownCast(data)) {
    this->VisitBlocks(sets, sets->GetNumberOfPartitionedDataSets(), where);
  } else if (data) {
    this->AddGrid(data, where);
  }
}

void Walk::AddGrid(vtkDataObject* data, InputGrid where)
{
  where.Grid = vtkDataSet::SafeDownCast(data);
  if (data && !where.Grid) {
    throw Error(std::string("The data have a ") + data->GetClassName() +
                ", which PatchIO containers do not support. Extract it (Extract Block) and save it in "
                "another format.");
  }
  if (!where.Grid || where.Grid->GetNumberOfPoints() == 0) {
    return;
  }
  where.Level =
      where.IsAmr ? where.Level : static_cast<int>(NumberInFieldData(where.Grid, "level", where.Level));
  this->Found.push_back(std::move(where));
}

void Walk::VisitLevels(vtkUniformGridAMR* levels, const InputGrid& where)
{
  for (unsigned int level = 0; level < levels->GetNumberOfLevels(); ++level) {
    for (unsigned int i = 0; i < BlocksOnLevel(levels, level); ++i) {
      InputGrid grid = where;
      grid.Piece = static_cast<int>(i);
      grid.Level = static_cast<int>(level);
      grid.IsAmr = true;
      this->AddGrid(BlockOnLevel(levels, level, i), grid);
    }
  }
}

void Walk::VisitPieces(vtkPartitionedDataSet* pieces, const InputGrid& where)
{
  for (unsigned int i = 0; i < pieces->GetNumberOfPartitions(); ++i) {
    InputGrid grid = where;
    grid.Piece = static_cast<int>(i);
    this->AddGrid(pieces->GetPartitionAsDataObject(i), grid);
  }
}

vtkDataObject* BlockOf(vtkMultiBlockDataSet* blocks, unsigned int i)
{
  return blocks->GetBlock(i);
}

vtkDataObject* BlockOf(vtkPartitionedDataSetCollection* sets, unsigned int i)
{
  return sets->GetPartitionedDataSet(i);
}

template <typename Tree>
void Walk::VisitBlocks(Tree* tree, unsigned int count, const InputGrid& where)
{
  for (unsigned int i = 0; i < count; ++i) {
    const char* name =
        tree->HasMetaData(i) ? tree->GetMetaData(i)->Get(vtkCompositeDataSet::NAME()) : nullptr;
    std::vector<int> group = where.Group;
    group.push_back(static_cast<int>(i));
    const bool both = name && *name && !where.Name.empty();
    this->Visit(BlockOf(tree, i), group, where.Name + (both ? "/" : "") + (name ? name : ""));
  }
}

}  // namespace

std::vector<InputGrid> InputGridsOf(vtkDataObject* data)
{
  Walk walk;
  walk.Visit(data, {}, "");
  return std::move(walk.Found);
}

int LevelInName(const std::string& name)
{
  const std::string before = "level ";
  int level = -1;
  if (name.rfind(before, 0) == 0) {
    const char* const end = name.data() + name.size();
    const auto [last, fault] = std::from_chars(name.data() + before.size(), end, level);
    return last == end && fault == std::errc() ? level : -1;
  }
  return level;
}

double NumberInFieldData(vtkDataObject* data, const char* name, double otherwise)
{
  vtkDataArray* const array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
  return array && array->GetNumberOfValues() == 1 ? array->GetTuple1(0) : otherwise;
}

}  // namespace patchio
