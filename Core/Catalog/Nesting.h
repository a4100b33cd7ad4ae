// Which patches refine which, and which coarse cells the finer level hides.
#pragma once

#include "Catalog/BoxBins.h"
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

  /// Boxes of whole cells of the patch that one shown child covers alone, in the patch's level; disjoint
  /// where the children are. Together they are CoveredCells() unless children cover cells together.
  std::vector<Box> CoveredBoxes(int patch) const;

  /// Shown patches of a level that share cells with a box of that level, ascending. Uniform grids only.
  std::vector<int> PatchesMeeting(int level, const Box& cells) const;

  /// One flag per patch: true where it is shown and shares cells with another shown patch of its level, which
  /// simulations seldom write. See BoxBins::Overlapping().
  /// Curvilinear grids: all false, since boxes of different blocks cannot be compared.
  std::vector<bool> OverlappingPatches() const;

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
  /// The shown patches of one level.
  struct LevelPatches
  {
    std::vector<int> Numbers;  ///< global ones; ascending
    BoxBins Bins;
  };
  LevelPatches PatchesOf(const Level& level) const;

  const Catalog& Data;
  const std::vector<bool> Shown;
  std::vector<LevelPatches> ShownPatches;  ///< per level; uniform grids only
};

}  // namespace patchio
