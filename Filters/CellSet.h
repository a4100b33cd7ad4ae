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
  int Bytes = 0;  ///< number of bytes of the values of one cell or point

  bool operator==(const CellArray& other) const
  {
    return this->Name == other.Name && this->Type == other.Type && this->Components == other.Components;
  }
};

/// The cells of the blocks of a rank, or their points, with the values of arrays.
struct CellSet
{
  /// Why PatchIO cannot make contours of the input, the same on all ranks; empty: the input is supported.
  std::string UnsupportedReason;
  bool IsPointData = false;      ///< true: the values belong to points, see CellBlock
  int FlatAxis = -1;             ///< see CellBlock
  bool HasContourValues = true;  ///< true: the first array, if any, has the values to contour
  std::vector<CellArray> Arrays;
  std::vector<CellBlock> Blocks;
  std::vector<std::vector<const char*>> Values;  ///< Values[block][array]
  std::array<LatticeNodes, 3> Nodes;             ///< the nodes of the blocks of all ranks along each axis
  /// The arrays of the grid's cells if the values belong to points, and the values of these arrays:
  /// GridValues[block][array] for the blocks of this rank.
  std::vector<CellArray> GridArrays;
  std::vector<std::vector<const char*>> GridValues;

  /// Memory of converted values and of copies of other ranks' cells, to which members of Blocks and Values
  /// point. All other pointers lead to the filters::Block objects and the arrays of their grids, which must
  /// outlive this set.
  std::deque<std::vector<double>> Numbers;
  std::deque<std::vector<char>> Bytes;
  std::deque<std::vector<unsigned char>> Flags;

  /// Sets the values to contour of the last block to the values of the first array, converted to double
  /// unless their type is float or double. Does nothing if HasContourValues is false or Arrays is empty.
  void SetLastBlockValues();
};

/// Returns the cells of `blocks` (see SolidBlocks()), without arrays. Collective: every rank of the
/// communicator calls it.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, Communicator& ranks);

/// Returns the cells of `blocks` (see SolidBlocks()) or, if `isPointData`, their points, with the arrays of
/// the names `arrays` that the blocks of all ranks have. CellSet::Nodes stays empty. Collective: every rank
/// of the communicator calls it.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, bool isPointData,
    const std::vector<std::string>& arrays, Communicator& ranks);

/// Returns the CellSet::UnsupportedReason that MakeCellSet() would set for these arguments. Collective: every
/// rank of the communicator calls it.
std::string FindUnsupportedReason(
    const Blocks& blocks, const std::string& array, bool isPointData, Communicator& ranks);

/// Returns the cells of all blocks that have the cell array `array` or, if `isPointData`, the points of all
/// blocks that have the point array `array`, with all arrays that these blocks have in common on all ranks,
/// `array` first. Returns no blocks if UnsupportedReason is not empty. Collective: every rank of the
/// communicator calls it.
CellSet MakeCellSet(const Blocks& blocks, const std::string& array, bool isPointData, Communicator& ranks);

/// Appends copies of other ranks' cells to `cells`. boxesFor(rank, block) returns the boxes of the cells that
/// `rank` needs from the block with the index `block` of this rank. Boxes without visible cells are left out.
/// Collective: every rank of the communicator calls it.
void AddRemoteCells(
    CellSet& cells, const std::function<std::vector<Box>(int, int)>& boxesFor, Communicator& ranks);

/// Appends copies of the other ranks' cells that touch this rank's cells. If `neighbours` is true, also
/// appends the cells that touch these copies, because gradients need these cells. Collective: every rank of
/// the communicator calls it.
void AddRemoteCells(CellSet& cells, bool neighbours, Communicator& ranks);

}  // namespace patchio::filters
