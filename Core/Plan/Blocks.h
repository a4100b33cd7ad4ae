// The blocks that are shown, made from patches: one block per patch, or a few large blocks. This file also
// adds ghost layers to blocks, and closes the seam of grids that go around the globe.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Plan/BoxCover.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// Cells of a block that get their values from one patch.
struct Region
{
  Box Cells;      ///< in the block's level
  int Owner = 0;  ///< global patch number
  /// Cells of the block's level per cell of the owner's level, per axis; above 1 if the owner is coarser.
  Int3 Ratio{1, 1, 1};

  bool operator==(const Region& other) const
  {
    return this->Cells == other.Cells && this->Owner == other.Owner && this->Ratio == other.Ratio;
  }
};

/// The origin of a block, see CutToPatches(). Filters must compute the same values at nodes for a cut block
/// as for the original block: VTK's filters use the values of refined cells only if the grid has no hidden
/// cells.
enum class CutFrom
{
  Nothing,
  BlockWithoutGaps,  ///< a block that its parts fill (Block::Full)
  BlockWithGaps
};

/// A box of one level that becomes one grid. A block is a single patch if patches are not merged or merging
/// does not help; otherwise, a block consists of parts of patches.
struct Block
{
  int Level = 0;
  Box Cells;
  std::vector<OwnedBox> Parts;  ///< disjoint, within Cells; Owner is a global patch number
  bool Full = true;             ///< true: the parts leave no gap; false: cells in gaps are hidden
  Int3 GhostLower{0, 0, 0};     ///< layers by which the grid exceeds Cells on the lower side of each axis
  Int3 GhostUpper{0, 0, 0};     ///< layers on the upper side
  std::vector<Region> GhostRegions;  ///< sources of the values of cells outside the parts; disjoint
  CutFrom Origin = CutFrom::Nothing;

  bool operator==(const Block& other) const
  {
    return this->Level == other.Level && this->Cells == other.Cells && this->Full == other.Full &&
           this->GhostLower == other.GhostLower && this->GhostUpper == other.GhostUpper &&
           this->Parts == other.Parts && this->GhostRegions == other.GhostRegions &&
           this->Origin == other.Origin;
  }
};

/// Returns the cells of the block's grid, including the layers GhostLower and GhostUpper.
inline Box GridCells(const Block& block)
{
  Box grid = block.Cells;
  for (int axis = 0; axis < 3; ++axis) {
    grid.Lower[axis] -= block.GhostLower[axis];
    grid.Upper[axis] += block.GhostUpper[axis];
  }
  return grid;
}

/// Makes a block of one patch, given by its global number.
Block BlockOfPatch(const Catalog& catalog, int patch);

/// Makes one block for each of `patches`, given by their global numbers.
std::vector<Block> BlocksOfPatches(const Catalog& catalog, const std::vector<int>& patches);

struct BlockOptions
{
  bool Merge = false;  ///< false: one block per patch
  CoverOptions Cover;
};

/// Returns the type of each patch, as a number from 0. Patches of the same type can share arrays and may be
/// merged: the same subset of `variables` exists on these patches, and on separate levels the patches also
/// have the same Patch::Number.
std::vector<int> PatchTypes(const Catalog& catalog, const std::vector<int>& variables);

/// Makes the blocks of all shown patches, sorted by level and, within a level, by their lowest patch number.
/// Each visible cell of a shown patch lies in exactly one part of one block. If `hideRefined` is set and
/// patches are merged, cells that a finer shown patch hides may be left out.
///
/// If patches are merged, each cell belongs to the part of the patch that owns the cell by
/// Nesting::OwnedCells(). Patches of curvilinear grids and of meshes, and of levels for which
/// Nesting::KnowsOwners() is false, and patches of 2^40 cells or more are not merged. Only patches of the
/// same type are merged with each other. A pure function: the same arguments give the same blocks on every
/// rank. O(n log n) in the number of patches.
///
/// `shown`, `patchTypes`: one entry per patch. `nesting`: made with the same `shown`, or with further
/// patches, which hide cells but are in no block.
std::vector<Block> MakeBlocks(const Catalog& catalog, const std::vector<bool>& shown,
    const std::vector<int>& patchTypes, const Nesting& nesting, bool hideRefined,
    const BlockOptions& options);

/// Removes the parts of patches whose flag in `keptPatches` is false (one flag per patch), and blocks that
/// have only such parts. A block that loses parts becomes one or several blocks, each with a ghost layer of
/// the remaining cells of the original block, so filters that use neighbouring cells find the same values as
/// in that block. The layer does not extend beyond the original block. The grid must be uniform, and the
/// blocks must have no ghost regions.
std::vector<Block> CutToPatches(
    std::vector<Block> blocks, const std::vector<bool>& keptPatches, const CoverOptions& options);

/// Makes one block without ghost regions for each of `boxes` that contains cells of the parts of `block`.
/// The blocks contain only the owned cells of each patch, see Nesting::OwnedCells().
std::vector<Block> CutToBoxes(const Block& block, const std::vector<Box>& boxes, const Nesting& nesting);

/// Increases GhostLower and GhostUpper until the grid contains the block's GhostRegions.
void GrowToGhosts(Block& block);

/// Returns a name for messages: "patch 17" or "46 patches, 12 to 57" with numbers within the level, "cuboid
/// 3" on separate levels, "points 1 to 99" on levels of points.
std::string NameOfBlock(const Catalog& catalog, const Block& block);

/// Grows `block` by one cell on each side on which a patch has adjacent cells, and fills the block's
/// GhostRegions. Cells of the grown box outside the block's parts get values from shown patches of the
/// block's level, or else of the next coarser level that has cells there; a coarse cell then provides the
/// value of all fine cells in it. Sides on which no patch has a cell, such as the boundary of the domain, do
/// not grow: filters such as Clip ignore that cells are hidden, so the block's own cells must be the last
/// ones there. On the other sides, cells that no patch covers have no entry in the GhostRegions. Only patches
/// of the block's type are used. The grid must be uniform.
///
/// With this layer, filters that use neighbouring cells (contour, gradient) see the same values on both sides
/// of a border between two blocks, whichever ranks have them.
void AddGhostLayer(
    const Catalog& catalog, const Nesting& nesting, const std::vector<int>& patchTypes, Block& block);

/// Returns whether the columns of nodes of a geographic grid cover all longitudes once, so that the last
/// column is one cell width away from the first: the number of columns times their distance is 360 degrees,
/// to within half a cell. Returns false unless the grid is rectilinear with at least 3 columns, all variables
/// are node-centred (there are no values for the cells between the last and the first column), and each patch
/// has all columns. MakePlan() closes such grids if they are shown on a sphere.
bool CoversAllLongitudes(const Catalog& catalog);

/// Adds the cells between the last and the first column to the blocks that contain the last column, and to
/// their parts. The nodes after the last column are those of the first column.
void CloseSeam(const Catalog& catalog, std::vector<Block>& blocks);

}  // namespace patchio
