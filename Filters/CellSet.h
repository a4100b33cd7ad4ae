// The cells of VTK's blocks with their values, and copies of the neighbouring cells of other ranks.
#pragma once

#include "Base/Communicator.h"
#include "Filters/Blocks.h"
#include "Filters/CellLattice.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace patchio::filters {

/// Describes an array that all blocks have.
struct CellArray
{
  std::string Name;
  int Type = 0;  ///< VTK's type, such as VTK_FLOAT
  int Components = 1;
  int Bytes = 0;  ///< bytes of one cell or point

  bool operator==(const CellArray& other) const
  {
    return this->Name == other.Name && this->Type == other.Type && this->Components == other.Components;
  }
};

struct CellSet
{
  std::string UnsupportedReason;  ///< why the input must go to VTK's own filters, the same on all ranks;
                                  ///< empty if the input is supported
  bool OfPoints = false;          ///< the values belong to points, see CellBlock
  int FlatAxis = -1;              ///< see CellBlock; -1: none
  bool HasNumbers = true;         ///< true if the values to contour are those of the first array
  std::vector<CellArray> Arrays;
  std::vector<CellBlock> Blocks;
  std::vector<std::vector<const char*>> Values;  ///< Values[block][array]
  std::array<std::vector<double>, 3> Nodes;  ///< along each axis, sorted positions of the nodes of all ranks
  /// Arrays of the grid's cells, if the values belong to points, and their values in each block of this rank.
  std::vector<CellArray> GridArrays;
  std::vector<std::vector<const char*>> GridValues;

  /// Memory that members of Blocks and Values point to.
  std::deque<std::vector<double>> Numbers;
  std::deque<std::vector<char>> Bytes;
  std::deque<std::vector<unsigned char>> Flags;

  /// Sets the last block's values to those of the first array, converted to double unless they are float or
  /// double. Does nothing if HasNumbers is false or there are no arrays.
  void SetLastBlockValues();
};

/// Collective: returns the cells of these blocks, without arrays.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, Communicator& ranks);

/// Collective: returns the cells of these blocks, or their points, with those of the named arrays that the
/// blocks of all ranks have. CellSet::Nodes stays empty.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, bool ofPoints,
    const std::vector<std::string>& arrays, Communicator& ranks);

/// Collective: returns CellSet::UnsupportedReason as MakeCellSet() would set it for these arguments.
std::string FindUnsupportedReason(
    const Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks);

/// Collective: returns the cells of all blocks that have the cell array `array`, or the points of all blocks
/// that have such a point array, with all arrays that these blocks have in common. No blocks if
/// UnsupportedReason is not empty.
CellSet MakeCellSet(const Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks);

/// Collective: appends copies of other ranks' cells. `give(rank, block)` returns the boxes of cells that
/// `rank` needs from a block of this rank.
void AddCellsOfOthers(
    CellSet& cells, const std::function<std::vector<Box>(int, int)>& give, Communicator& ranks);

/// Collective: appends copies of the other ranks' cells that touch this rank's cells. If `neighbours`, also
/// appends the cells that touch these copies, because gradients need them.
void AddCellsOfOthers(CellSet& cells, bool neighbours, Communicator& ranks);

}  // namespace patchio::filters
