// Which patches refine which, and which coarse cells the finer level hides.
#pragma once

#include "Catalog/BoxBins.h"
#include "Catalog/Catalog.h"

#include <cstdint>
#include <map>
#include <optional>
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

  /// Boxes of whole cells that OwnCells() of the next finer level cover, in the patch's level, each within
  /// one of the patch's OwnCells(); disjoint. RunOnAllRanks they are what of those is in CoveredCells()
  /// unless several finer boxes cover a cell together. Not of curvilinear grids. KnowsOwners() of both
  /// levels.
  std::vector<Box> CoveredBoxes(int patch) const;

  /// Shown patches of a level that share cells with a box of that level, ascending. Uniform grids only.
  std::vector<int> PatchesMeeting(int level, const Box& cells) const;

  /// False where the shown patches of a level overlap so much that it would take too long to find out whose
  /// each cell is, see BoxBins::WithoutThoseBefore(); OwnCells() are all of a patch's cells then.
  bool KnowsOwners(int level) const;

  /// True where cells of the patch are another's. See OwnCells().
  bool LosesCells(int patch) const { return this->Rests.count(patch) > 0; }

  /// The cells that count as the patch's own, as disjoint boxes. Patches of a level may overlap, as SAMRAI
  /// grows small ones; a place that several have is the shown one's with the lowest number. All cells of a
  /// patch that is not shown. Curvilinear grids and separate levels: all cells, since there boxes overlap
  /// that have nothing to do with each other.
  std::vector<Box> OwnCells(int patch) const;

  /// One flag per cell of the patch, axis 0 fastest: 1 where cells of the next finer level cover the whole
  /// cell. Empty when no cell is covered. Several children may cover a cell together; but where more than 64
  /// fine cells make up a coarse one (a ratio of 5x5x5, say), only cells that one child covers alone are
  /// marked.
  std::vector<std::uint8_t> CoveredCells(int patch) const;

  /// The same, with 1 also where the cell is another patch's by OwnCells(): what is left is each place once.
  std::vector<std::uint8_t> CellsShownElsewhere(int patch) const;

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
    std::optional<BoxBins> OwnBins;  ///< of OwnCells(), where these are not the patches themselves
  };
  LevelPatches PatchesOf(const Level& level) const;
  void FindOwners(int level);

  const Catalog& Data;
  const std::vector<bool> Shown;
  std::vector<LevelPatches> ShownPatches;  ///< per level; not of curvilinear grids
  std::vector<bool> OwnersUnknown;         ///< per level
  std::map<int, std::vector<Box>> Rests;   ///< of patches that have cells of others: their own cells
};

}  // namespace patchio
