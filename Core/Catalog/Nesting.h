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
class Nesting {
public:
  /// Only patches p with shown[p] take part: a patch that is not shown hides nothing.
  /// `shown` has one entry per patch. Keeps a reference to `catalog`.
  Nesting(const Catalog& catalog, const std::vector<bool>& shown);

  /// Shown patches of the next finer level that may overlap the patch.
  std::vector<int> ChildrenOf(int patch) const;

  /// One flag per cell of the patch, axis 0 fastest: 1 where cells of the next finer level cover the whole
  /// cell. Empty when no cell is covered.
  std::vector<std::uint8_t> CoveredCells(int patch) const;

private:
  /// Boxes of one level hashed into bins of equal size.
  struct Bins
  {
    Int3 Lower{0, 0, 0};
    Int3 Size{1, 1, 1};   ///< cells in a bin
    Int3 Count{1, 1, 1};  ///< bins per axis
    std::vector<int> Begin;  ///< first entry of each bin in Members
    std::vector<int> Members;
    Box Range(const Box& cells) const;
    template <typename Visit>
    void ForEachBin(const Box& cells, Visit visit) const;
  };

  Bins MakeBins(int level) const;

  const Catalog& Data;
  const std::vector<bool> Shown;
  std::vector<Bins> LevelBins;  ///< per level; uniform grids only
};

}  // namespace patchio
