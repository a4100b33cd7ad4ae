// Relations between patches: which patches refine which, and which coarse cells the next finer level hides.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace patchio {

/// Returns two patches of one level that share a cell, the first with the lowest possible number, or nothing
/// if no patches of a level overlap.
std::optional<std::pair<int, int>> FindOverlap(const Catalog& catalog);

/// Multiplies refinement ratios. A product beyond the range of indices is clamped; the entire domain is then
/// within one coarse cell.
inline Int3 MultiplyRatios(const Int3& a, const Int3& b)
{
  Int3 product;
  for (int axis = 0; axis < 3; ++axis) {
    product[axis] = static_cast<int>(std::min(std::int64_t(a[axis]) * b[axis], std::int64_t(1) << 30));
  }
  return product;
}

/// The parent-child relation between the patches of neighbouring levels.
///
/// On uniform and rectilinear grids, children are found from the boxes, through bins, in time proportional to
/// the number of patches. On curvilinear grids, children come from the catalog's child table, because the
/// blocks of a multi-block grid share one index space, and overlaps of boxes of different blocks mean
/// nothing. Without a table, patches of curvilinear grids have no children.
class Nesting
{
public:
  /// Finds the relations between the shown patches. `shown` has one flag per patch, and is copied. A patch
  /// that is not shown hides nothing. `catalog` must outlive this object.
  Nesting(const Catalog& catalog, const std::vector<bool>& shown);

  /// Returns the shown patches of the next finer level that may overlap the patch, or `part` of the patch.
  std::vector<int> ChildrenOf(int patch) const;
  std::vector<int> ChildrenOf(int patch, const Box& part) const;

  /// Returns the boxes of entire cells of the patch that the OwnedCells() of the next finer level cover. The
  /// boxes are disjoint, in the patch's level, and each lies within one of the patch's OwnedCells(). The
  /// boxes contain the owned cells that CoveredCells() marks, except cells that only several finer boxes
  /// together cover. Catalog::KnowsPositions() must be true, and KnowsOwners() for both levels.
  std::vector<Box> CoveredBoxes(int patch) const;

  /// Returns the shown patches of a level that share cells with a box of that level, in ascending order.
  /// Catalog::KnowsPositions() must be true.
  std::vector<int> PatchesIntersecting(int level, const Box& cells) const;

  /// Returns false if the shown patches of a level overlap so much that finding each cell's owner would take
  /// too long, see BoxBins::UniqueParts(). OwnedCells() then returns all cells of a patch.
  bool KnowsOwners(int level) const;

  /// Returns whether some cells of the patch belong to another patch, see OwnedCells().
  bool HasUnownedCells(int patch) const { return this->OwnedParts.count(patch) > 0; }

  /// Returns the cells that belong to the patch, as disjoint boxes. Patches of a level may overlap, because
  /// SAMRAI enlarges small patches; a cell of several patches belongs to the shown patch with the lowest
  /// number. Returns all cells if the patch is not shown, and on curvilinear grids and separate levels, where
  /// overlapping boxes are unrelated.
  std::vector<Box> OwnedCells(int patch) const;

  /// Returns one flag per cell of the patch, axis 0 fastest: 1 if cells of the next finer level cover the
  /// entire cell. Returns an empty list if no cell is covered. Several children may cover a cell together,
  /// but if a coarse cell has more than 64 fine cells (a ratio of 5x5x5, say), only cells that a single child
  /// covers are marked.
  std::vector<std::uint8_t> CoveredCells(int patch) const;
  /// Returns the flags of CoveredCells(patch) for the cells of `part` only.
  std::vector<std::uint8_t> CoveredCells(int patch, const Box& part) const;

  /// Returns the flags of CoveredCells(patch), with 1 also for cells that belong to another patch by
  /// OwnedCells(). Returns an empty list if no cell has 1. If no edge of a fine patch cuts a coarse cell,
  /// each point of the shown patches of refinement levels lies in exactly one cell with 0.
  std::vector<std::uint8_t> CellsShownElsewhere(int patch) const;

  /// Returns one flag per cell of the patch grown by `ghosts` layers, axis 0 fastest: 1 for the cells
  /// of the patch, and for ghost cells that a shown patch of the same or a coarser level contains. On
  /// curvilinear grids only the cells of the patch have 1, because boxes of different blocks cannot be
  /// compared.
  std::vector<std::uint8_t> SharedCells(int patch, const Int3& ghosts) const;

private:
  /// The shown patches of one level.
  struct LevelPatches
  {
    std::vector<int> Numbers;  ///< global numbers, ascending
    BoxBins Bins;
    std::optional<BoxBins> OwnedBins;  ///< boxes of OwnedCells(); only if a patch has unowned cells
  };
  LevelPatches PatchesOf(const Level& level) const;
  void AssignOwners(int level);

  const Catalog& Data;
  const std::vector<bool> Shown;
  std::vector<LevelPatches> ShownPatches;  ///< per level; empty unless Catalog::KnowsPositions()
  std::vector<bool> OwnersUnknown;         ///< per level
  /// Owned cells of the patches for which HasUnownedCells() is true.
  std::map<int, std::vector<Box>> OwnedParts;
};

}  // namespace patchio
