// Which patches refine which, and which coarse cells the finer level hides.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace patchio {

/// Two patches of a level that share a cell, the first one before all others; none where no two do.
std::optional<std::pair<int, int>> FindOverlap(const Catalog& catalog);

/// The ratio over two levels, kept within the index range: beyond it, all is one coarse cell anyway.
inline Int3 Times(const Int3& a, const Int3& b)
{
  Int3 product;
  for (int axis = 0; axis < 3; ++axis) {
    product[axis] = static_cast<int>(std::min(std::int64_t(a[axis]) * b[axis], std::int64_t(1) << 30));
  }
  return product;
}

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

  /// Shown patches of the next finer level that may overlap the patch, or a part of it.
  std::vector<int> ChildrenOf(int patch) const;
  std::vector<int> ChildrenOf(int patch, const Box& part) const;

  /// Boxes of whole cells that OwnCells() of the next finer level cover, in the patch's level, each within
  /// one of the patch's OwnCells(); disjoint. Together they are the own cells that CoveredCells() marks,
  /// unless several finer boxes cover a cell together. Not for curvilinear grids; KnowsOwners() must hold for
  /// both levels.
  std::vector<Box> CoveredBoxes(int patch) const;

  /// Shown patches of a level that share cells with a box of that level, ascending. Uniform grids only.
  std::vector<int> PatchesMeeting(int level, const Box& cells) const;

  /// False where the shown patches of a level overlap so much that it would take too long to find out to
  /// which one each cell belongs, see BoxBins::WithoutThoseBefore(); OwnCells() are all of a patch's cells
  /// then.
  bool KnowsOwners(int level) const;

  /// True where some cells of the patch belong to another one, see OwnCells().
  bool LosesCells(int patch) const { return this->Rests.count(patch) > 0; }

  /// The cells that count as the patch's own, as disjoint boxes. Patches of a level may overlap, as SAMRAI
  /// grows small ones; a cell that several have belongs to the shown patch with the lowest number. All cells
  /// of a patch that is not shown. Curvilinear grids and separate levels: all cells, since there boxes
  /// overlap that have nothing to do with each other.
  std::vector<Box> OwnCells(int patch) const;

  /// One flag per cell of the patch, axis 0 fastest: 1 where cells of the next finer level cover the whole
  /// cell. Empty when no cell is covered. Several children may cover a cell together; but where more than 64
  /// fine cells make up a coarse one (a ratio of 5x5x5, say), only cells that one child covers alone are
  /// marked.
  std::vector<std::uint8_t> CoveredCells(int patch) const;
  /// The same for the cells of a part of the patch.
  std::vector<std::uint8_t> CoveredCells(int patch, const Box& part) const;

  /// The same, with 1 also where the cell belongs to another patch by OwnCells(): what is left covers each
  /// point of space once.
  std::vector<std::uint8_t> CellsShownElsewhere(int patch) const;

  /// One flag per cell of the patch grown by `ghosts` layers, axis 0 fastest: 1 where a shown patch of the
  /// same or a coarser level has a cell, so that the cell would be drawn a second time.
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
  std::map<int, std::vector<Box>> Rests;   ///< own cells of the patches that have cells of others, too
};

}  // namespace patchio
