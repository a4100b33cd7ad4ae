#include "InputTree.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Filters/Blocks.h"
#include "Filters/VtkVersions.h"

#include <vtkDataArray.h>
#include <vtkDataObjectTree.h>
#include <vtkFieldData.h>
#include <vtkPartitionedDataSet.h>
#include <vtkUniformGrid.h>
#include <vtkUniformGridAMR.h>

namespace patchio {

namespace {

/// Returns references to all members of a piece except the axes and the arrays.
template <typename Piece>
auto PlainMembers(Piece& piece)
{
  return std::tie(piece.Rank, piece.Grid, piece.Type, piece.Group, piece.Name, piece.IndexInGroup,
      piece.Level, piece.Number, piece.Hides, piece.FlatAxes, piece.Cells, piece.Whole, piece.Origin,
      piece.Spacing, piece.IsPlane, piece.Mesh);
}

template <typename AxisType>
auto MembersOfAxis(AxisType& axis)
{
  return std::tie(axis.First, axis.Positions, axis.Labels);
}

template <typename Array>
auto MembersOfArray(Array& array)
{
  return std::tie(array.Name, array.Center, array.Components, array.Type, array.HidesUndefined,
      array.IsUndefined, array.Positions, array.Role, array.CellList);
}

}  // namespace

Box NodesOf(const GridPiece& piece, const Box& cells)
{
  Box nodes = cells;
  for (int axis = 0; axis < 3; ++axis) {
    nodes.Upper[axis] += (piece.FlatAxes >> axis & 1) != 0 ? 0 : 1;
  }
  return nodes;
}

std::vector<std::byte> EncodePieces(const std::vector<GridPiece>& pieces)
{
  ByteWriter writer;
  writer.Append<std::uint64_t>(pieces.size());
  for (const GridPiece& piece : pieces) {
    writer.Append(PlainMembers(piece));
    for (const Axis& axis : piece.Axes) {
      writer.Append(MembersOfAxis(axis));
    }
    writer.Append<std::uint64_t>(piece.Arrays.size());
    for (const ArrayDescription& array : piece.Arrays) {
      writer.Append(MembersOfArray(array));
    }
  }
  return writer.Release();
}

void DecodePieces(const std::string& bytes, std::vector<GridPiece>& pieces)
{
  ByteReader reader(bytes);
  for (auto count = reader.Get<std::uint64_t>(); count > 0; --count) {
    GridPiece& piece = pieces.emplace_back();
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

/// Collects the grids in a tree of data.
class TreeWalker
{
public:
  /// Adds the grids in `data`. `group`, `name`: see InputGrid.
  void Visit(vtkDataObject* data, const std::vector<int>& group, const std::string& name);

  std::vector<InputGrid> Grids;

private:
  void AddGrid(vtkDataObject* data, InputGrid parent);
  void VisitLevels(vtkUniformGridAMR* levels, const InputGrid& parent);
  void VisitPieces(vtkPartitionedDataSet* pieces, const InputGrid& parent);
  void VisitBlocks(vtkDataObjectTree* tree, const InputGrid& parent);
};

void TreeWalker::Visit(vtkDataObject* data, const std::vector<int>& group, const std::string& name)
{
  InputGrid parent;
  parent.Group = group;
  parent.Name = name;
  parent.Level = LevelInName(name);
  if (auto* levels = vtkUniformGridAMR::SafeDownCast(data)) {
    this->VisitLevels(levels, parent);
  } else if (auto* pieces = vtkPartitionedDataSet::SafeDownCast(data)) {
    this->VisitPieces(pieces, parent);
  } else if (auto* tree = vtkDataObjectTree::SafeDownCast(data)) {
    this->VisitBlocks(tree, parent);
  } else if (data) {
    this->AddGrid(data, parent);
  }
}

void TreeWalker::AddGrid(vtkDataObject* data, InputGrid parent)
{
  parent.Grid = vtkDataSet::SafeDownCast(data);
  if (data && !parent.Grid) {
    throw Error(std::string("The data have a ") + data->GetClassName() +
                ", which PatchIO containers do not support. Extract it (Extract Block) and save it in "
                "another format.");
  }
  if (!parent.Grid || parent.Grid->GetNumberOfPoints() == 0) {
    return;
  }
  parent.Level =
      parent.IsAmr ? parent.Level : static_cast<int>(NumberInFieldData(parent.Grid, "level", parent.Level));
  this->Grids.push_back(std::move(parent));
}

void TreeWalker::VisitLevels(vtkUniformGridAMR* levels, const InputGrid& parent)
{
  for (unsigned int level = 0; level < levels->GetNumberOfLevels(); ++level) {
    for (unsigned int i = 0; i < BlockCountOnLevel(levels, level); ++i) {
      InputGrid grid = parent;
      grid.IndexInGroup = static_cast<int>(i);
      grid.Level = static_cast<int>(level);
      grid.IsAmr = true;
      this->AddGrid(BlockOnLevel(levels, level, i), grid);
    }
  }
}

void TreeWalker::VisitPieces(vtkPartitionedDataSet* pieces, const InputGrid& parent)
{
  for (unsigned int i = 0; i < pieces->GetNumberOfPartitions(); ++i) {
    InputGrid grid = parent;
    grid.IndexInGroup = static_cast<int>(i);
    this->AddGrid(pieces->GetPartitionAsDataObject(i), grid);
  }
}

void TreeWalker::VisitBlocks(vtkDataObjectTree* tree, const InputGrid& parent)
{
  std::vector<int> group = parent.Group;
  group.push_back(0);
  filters::ForEachChild(tree, [&](vtkDataObject* child, const std::string& name, unsigned int) {
    this->Visit(child, group, parent.Name + (name.empty() || parent.Name.empty() ? "" : "/") + name);
    ++group.back();
  });
}

}  // namespace

std::vector<InputGrid> InputGridsOf(vtkDataObject* data)
{
  TreeWalker walker;
  walker.Visit(data, {}, "");
  return std::move(walker.Grids);
}

int LevelInName(const std::string& name)
{
  const std::string_view before = "level ";
  return BeginsWith(name, before) ? ParseNumber<int>(name.substr(before.size())).value_or(-1) : -1;
}

double NumberInFieldData(vtkDataObject* data, const char* name, double defaultValue)
{
  vtkDataArray* const array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
  return array && array->GetNumberOfValues() == 1 ? array->GetTuple1(0) : defaultValue;
}

}  // namespace patchio
