// Which patches refine which, and which coarse cells the finer level hides.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Parent -> children relation between neighbouring levels.
///
/// Uniform grids: found from the boxes, through bins, in time proportional to the number of patches.
/// Curvilinear grids: taken from the catalog's child table, because the blocks of a multi-block grid share
/// one index space and boxes of different blocks overlap without meaning anything. Without a table there
/// are no children.
class Nesting
{
public:
  /// Only patches p with shown[p] take part: a patch that is not shown hides nothing.
  /// `shown` has one entry per patch. Keeps a reference to `catalog`.
  Nesting(const Catalog& catalog, const std::vector<bool>& shown);

  /// Shown patches of the next finer level that may overlap the patch.
  std::vector<int> ChildrenOf(int patch) const;

  /// One flag per cell of the patch, axis 0 fastest: 1 where cells of the next finer level cover the whole
  /// cell. Empty when no cell is covered. Several children may cover a cell together; but where more than 64
  /// fine cells make up a coarse one (a ratio of 5x5x5, say), only cells that one child covers alone are
  /// marked.
  std::vector<std::uint8_t> CoveredCells(int patch) const;

  /// One flag per cell of the patch grown by `ghosts` layers, axis 0 fastest: 1 where a shown patch of the
  /// same or a coarser level has a cell, so that the cell stands for a place that is drawn anyway.
  /// Curvilinear grids: 1 on the patch's own cells only, since boxes of different blocks cannot be compared.
  std::vector<std::uint8_t> SharedCells(int patch, const Int3& ghosts) const;

private:
  /// Boxes of one level hashed into bins of equal size.
  struct Bins
  {
    Box Cells;                                  ///< of all boxes
    std::array<std::int64_t, 3> Size{1, 1, 1};  ///< cells in a bin
    Int3 Count{1, 1, 1};                        ///< bins per axis
    std::vector<std::size_t> Begin;             ///< first entry of each bin in Members
    std::vector<int> Members;
    void SetSize(const std::array<std::int64_t, 3>& size);
    Box Range(const Box& cells) const;
    template <typename Visit>
    void ForEachBin(const Box& cells, Visit visit) const;
  };

  Bins MakeBins(int level) const;
  void ChooseSize(const Level& level, Bins& bins) const;
  std::size_t CountMembers(const Level& level, const Bins& bins) const;
  void Fill(const Level& level, Bins& bins) const;

  const Catalog& Data;
  const std::vector<bool> Shown;
  std::vector<Bins> LevelBins;  ///< per level; uniform grids only
};

}  // namespace patchio
