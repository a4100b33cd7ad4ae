#include "PieceForm.h"

#include "Base/Bytes.h"

namespace patchio {
namespace {

/// Axes, and arrays, are not plain values.
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
  ByteReader reader(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
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

}  // namespace patchio
