// The layout of blocks: the positions of patches' values in the arrays of blocks.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace patchio {

/// Values of one patch in the array of one block.
struct Placement
{
  std::uint32_t Block = 0;  ///< index into the blocks
  Box Region;               ///< indices of cells or nodes in the block's level
  Int3 Ratio{1, 1, 1};      ///< see Region::Ratio
};

/// The blocks of one rank, indexed by the patches that fill them.
class BlockLayout
{
public:
  /// Computes where the patches' values go in `blocks`. `nodes`: true if node-centred variables are read,
  /// too.
  ///
  /// A cell lies in at most one part or ghost region of its block. A node on a border may lie in several: the
  /// part of the patch with the largest number provides the value of the node, or else the first ghost
  /// region.
  BlockLayout(const Catalog& catalog, std::vector<Block> blocks, bool nodes);

  const std::vector<Block>& Blocks() const { return this->AllBlocks; }
  /// Returns whether the layout includes node-centred variables. If not, only ValueBox() may be called for
  /// nodes.
  bool HasNodes() const { return this->Nodes; }

  /// Returns the patches that the blocks need, ascending.
  const std::vector<int>& Sources() const { return this->SourcePatches; }
  /// Returns the range [begin, end) of the placements of patch Sources()[source]. The range for cells is
  /// never empty.
  const Placement* Begin(std::size_t source, Centering centering) const
  {
    const Table& table = this->TableOf(centering);
    return table.Placements.data() + table.First[source];
  }
  const Placement* End(std::size_t source, Centering centering) const
  {
    const Table& table = this->TableOf(centering);
    return table.Placements.data() + table.First[source + 1];
  }

  /// Returns the index box of the values of a block's array.
  Box ValueBox(std::size_t block, Centering centering) const;

  /// Returns whether the placements fill a block's array completely.
  bool IsComplete(std::size_t block, Centering centering) const
  {
    return this->TableOf(centering).Complete[block];
  }
  /// Returns the planes (across axis 2) from the first to the last one with gaps, and one more plane of the
  /// block on both sides. Returns an empty box if the block is complete.
  Box PlanesWithGaps(std::size_t block, Centering centering) const;
  /// Returns one flag per value of `planes`, axis 0 fastest: 1 if a placement fills the value. `planes`
  /// consists of entire planes of the block.
  std::vector<std::uint8_t> FilledFlags(std::size_t block, Centering centering, const Box& planes) const;

private:
  struct Table
  {
    std::vector<std::size_t> First;  ///< index of the first placement of each source, and the end
    std::vector<Placement> Placements;
    std::vector<bool> Complete;  ///< per block
  };

  const Table& TableOf(Centering centering) const { return this->Tables[static_cast<int>(centering)]; }
  std::vector<Region> RegionsOf(std::size_t block, Centering centering) const;
  std::vector<Region> CellRegions(const Block& block) const;
  std::vector<Region> NodeRegions(const Block& block) const;
  void CollectSources();
  void FillTable(Centering centering);
  Box NodesOf(int level, const Box& cells) const;

  std::vector<Block> AllBlocks;
  bool Nodes;
  /// Last column of nodes of a rectilinear grid, along axis 0.
  int LastColumn = std::numeric_limits<int>::max() - 1;
  std::vector<Int3> NodesBeyondCells;  ///< per level; see Catalog::NodesBeyondCells()
  std::vector<int> SourcePatches;
  std::array<Table, 2> Tables;
};

}  // namespace patchio
