// From patches to the blocks that are shown: one a patch, or few large ones; with a layer of cells around
// each, and the seam of grids that go around the globe.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Plan/BoxCover.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// Cells of a block whose values come from a patch.
struct Region
{
  Box Cells;  ///< in the block's level
  int Owner = 0;
  Int3 Ratio{
      1, 1, 1};  ///< cells of the block's level in one of the owner's, per axis; above 1: a coarser owner

  bool operator==(const Region& other) const
  {
    return this->Cells == other.Cells && this->Owner == other.Owner && this->Ratio == other.Ratio;
  }
};

/// Where a block comes from, see CutToPatches(). Filters must make the same of its visible cells as in the
/// block that it was cut from; in a grid with hidden cells they take no values of refined cells for nodes.
enum class CutFrom
{
  Nothing,
  BlockWithoutGaps,  ///< parts have all its cells
  BlockWithGaps
};

/// A box of one level that becomes one grid. In as-patches mode, and where merging does not help, it is a
/// patch; else it is made of parts of patches.
struct Block
{
  int Level = 0;
  Box Cells;
  std::vector<OwnedBox> Parts;  ///< disjoint, within Cells; Owner is a global patch number
  bool Full = true;             ///< the parts leave no gap; else the cells in it stay hidden
  Int3 LayersBelow{0, 0, 0};    ///< by which the grid grows beyond Cells, on the lower side of each axis
  Int3 LayersAbove{0, 0, 0};    ///< and on the upper side
  std::vector<Region> Fringe;   ///< values for cells of the grown block that are in no part; disjoint
  CutFrom Origin = CutFrom::Nothing;

  bool operator==(const Block& other) const
  {
    return this->Level == other.Level && this->Cells == other.Cells && this->Full == other.Full &&
           this->LayersBelow == other.LayersBelow && this->LayersAbove == other.LayersAbove &&
           this->Parts == other.Parts && this->Fringe == other.Fringe && this->Origin == other.Origin;
  }
};

/// The cells that the block's grid has.
inline Box GridCells(const Block& block)
{
  Box grid = block.Cells;
  for (int axis = 0; axis < 3; ++axis) {
    grid.Lower[axis] -= block.LayersBelow[axis];
    grid.Upper[axis] += block.LayersAbove[axis];
  }
  return grid;
}

/// The block that is just one patch, by its global number.
Block BlockOfPatch(const Catalog& catalog, int patch);

/// One block a patch.
std::vector<Block> BlocksOfPatches(const Catalog& catalog, const std::vector<int>& patches);

struct BlockOptions
{
  bool Merge = false;  ///< false: one block a patch
  CoverOptions Cover;
};

/// One number per patch; equal where the same of these variables exist, so that patches can share arrays, and
/// where they may become one block: on separate levels only those of one Patch::Number.
std::vector<int> KindsOfPatches(const Catalog& catalog, const std::vector<int>& variables);

/// The blocks of all shown patches, in the order of levels and, within one, of the lowest patch number. Each
/// visible cell of a shown patch lies in one part of one block; cells that a finer shown patch hides may be
/// left out where `hideRefined` is set, and patches that are hidden altogether are not in any block.
///
/// Merged, each place is in the part of the patch that Nesting::OwnCells() gives it to. Curvilinear grids are
/// not merged, nor levels that Nesting knows no owners of; patches of different kinds stay among their like.
/// A pure function: the same arguments give the same blocks on every rank. O(n log n) in the number of
/// patches.
///
/// shown, kinds: one entry per patch. nesting: made with the same `shown`, or with more patches, which then
/// hide what they cover but are in no block.
std::vector<Block> MakeBlocks(const Catalog& catalog, const std::vector<bool>& shown,
    const std::vector<int>& kinds, const Nesting& nesting, bool hideRefined, const BlockOptions& options);

/// Leaves out the parts of other patches than those marked in `kept`, one flag per patch, and blocks without
/// any other part. What is left of a block that loses some becomes one or several, each with a layer of cells
/// of what is left around it: filters that look at neighbouring cells find the same values there as in the
/// whole block, and the blocks that they see end where they did. Uniform grids, blocks without a fringe.
std::vector<Block> CutToPatches(
    std::vector<Block> blocks, const std::vector<bool>& kept, const CoverOptions& options);

/// A block for each of these boxes of its cells that has some, without fringes. Of patches that are blocks
/// only their own cells stay, see Nesting::OwnCells().
std::vector<Block> CutToBoxes(const Block& block, const std::vector<Box>& boxes, const Nesting& nesting);

/// Makes the grid of a block the smallest box that holds its cells and its fringe.
void GrowToFringe(Block& block);

/// "patch 17", or "46 patches, 12 to 57", by their numbers within the level.
std::string NameOfBlock(const Catalog& catalog, const Block& block);

/// Lets a block grow by one cell on each side of each axis where some patch has cells there, and fills its
/// Fringe: what of the grown box does not belong to the block comes from shown patches of its own level, else
/// of the next coarser one that has cells there (each coarse cell then stands for all fine ones in it, as
/// is). Sides that no patch covers any cell of, beyond the domain above all, stay as they are: filters such
/// as Clip take no notice of hidden cells, and the block's own must be the last ones there. What no patch
/// covers of the other sides stays open. Only patches of the block's kind count. Uniform grids only.
///
/// With such a layer, filters that look at neighbours (contour, gradient) see the same values on both sides
/// of a border between blocks, on whatever ranks they are.
void AddGhostLayer(
    const Catalog& catalog, const Nesting& nesting, const std::vector<int>& kinds, Block& block);

/// True where columns of nodes of a geographic grid cover all longitudes once, so that the last column is a
/// cell's width from the first one: the number of columns times their distance is 360 degrees, to within half
/// a cell. All values must be at nodes, as there are none for the cells between, and each patch must have all
/// columns. MakePlan() closes such grids where they are put on a sphere.
bool GoesAround(const Catalog& catalog);

/// Adds the cells between the last column and the first one to the blocks that have the last column, and to
/// their parts of it. The nodes behind the last column are those of the first one again.
void CloseSeam(const Catalog& catalog, std::vector<Block>& blocks);

}  // namespace patchio
