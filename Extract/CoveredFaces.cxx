#include "Extract/CoveredFaces.h"

namespace patchio::extract {
namespace {

CellSet CellsOfAllRanks(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  CellSet cells = MakeCellSet(blocks, ranks);
  AddCellsOfOthers(cells, false, ranks);
  return cells;
}

}  // namespace

CoveredFaces::CoveredFaces(const std::vector<const Block*>& blocks, Communicator& ranks)
    : Cells(CellsOfAllRanks(blocks, ranks)), Lattice(this->Cells.Blocks, this->Cells.Nodes)
{
}

bool CoveredFaces::IsCovered(int block, const OuterFace& face) const
{
  if (!this->Lattice.Misfit().empty()) {
    return false;
  }
  Box behind;
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<int>& places = this->Lattice.AxisOf(block, axis).Places;
    behind.Lower[axis] = places[face.Cell[axis]];
    behind.Upper[axis] = places[face.Cell[axis] + 1] - 1;
  }
  const int beside = face.Upper ? behind.Upper[face.Axis] + 1 : behind.Lower[face.Axis] - 1;
  behind.Lower[face.Axis] = behind.Upper[face.Axis] = beside;
  int hint = block;
  Int3 cube = behind.Lower;
  for (cube[2] = behind.Lower[2]; cube[2] <= behind.Upper[2]; ++cube[2]) {
    for (cube[1] = behind.Lower[1]; cube[1] <= behind.Upper[1]; ++cube[1]) {
      for (cube[0] = behind.Lower[0]; cube[0] <= behind.Upper[0]; ++cube[0]) {
        if (!this->Lattice.Find(cube, hint)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace patchio::extract
