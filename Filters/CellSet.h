// The cells of VTK's blocks with their values, also those of other ranks that lie beside them.
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

/// An array that all blocks have.
struct CellArray
{
  std::string Name;
  int Type = 0;  ///< of VTK
  int Components = 1;
  int Bytes = 0;  ///< of a cell

  bool operator==(const CellArray& other) const
  {
    return this->Name == other.Name && this->Type == other.Type && this->Components == other.Components;
  }
};

struct CellSet
{
  std::string NotUnderstood;  ///< why filters must leave the input to VTK; the same on all ranks
  bool OfPoints = false;      ///< the values belong to points, see CellBlock
  int FlatAxis = -1;          ///< see CellBlock; -1: none
  bool HasNumbers = true;     ///< the values of the first array are those of CellBlock, which is contoured
  std::vector<CellArray> Arrays;
  std::vector<CellBlock> Blocks;
  std::vector<std::vector<const char*>> Values;  ///< of each block, the values of each array
  std::array<std::vector<double>, 3> Nodes;      ///< of all ranks
  /// For points: arrays of the grid's cells, and their values in each block of this rank.
  std::vector<CellArray> GridArrays;
  std::vector<std::vector<const char*>> GridValues;

  std::deque<std::vector<double>> Numbers;  ///< hold what blocks point to
  std::deque<std::vector<char>> Bytes;
  std::deque<std::vector<unsigned char>> Flags;

  /// Points the last block to its values as numbers, if it has them.
  void TakeNumbers();
};

/// Collective: the cells of blocks, without arrays.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, Communicator& ranks);

/// Collective: the cells of blocks, or the points, with those of these arrays that all blocks have.
CellSet MakeCellSet(const std::vector<const Block*>& blocks, bool ofPoints,
    const std::vector<std::string>& arrays, Communicator& ranks);

/// Collective: CellSet::NotUnderstood of what follows.
std::string WhyNotUnderstood(
    const Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks);

/// Collective: the cells, or the points, of all blocks that have this array of them, with all arrays that all
/// of these have.
CellSet MakeCellSet(const Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks);

/// Collective: adds cells of other ranks. give(rank, block): boxes of cells of a block of this rank for
/// another rank.
void AddCellsOfOthers(
    CellSet& cells, const std::function<std::vector<Box>(int, int)>& give, Communicator& ranks);

/// Collective: adds the cells of other ranks that touch those of this one. `neighbours`: also the cells that
/// touch these, for gradients.
void AddCellsOfOthers(CellSet& cells, bool neighbours, Communicator& ranks);

}  // namespace patchio::filters
