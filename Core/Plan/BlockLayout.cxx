#include "Plan/BlockLayout.h"

#include "Catalog/Box.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchio {
namespace {

/// Appends the cells of `box` that lie in none of the first `count` boxes of the bins.
void AppendRest(const Box& box, int count, const BoxBins& bins, std::vector<Box>& rest)
{
  // With many pieces, subtracting one box after another takes quadratic time. Each piece by itself meets few
  // boxes.
  constexpr std::size_t many = 256;
  std::vector<Box> open{box};
  for (const int taken : bins.Intersecting(box)) {
    if (taken >= count || open.empty()) {
      break;
    }
    std::vector<Box> left;
    for (const Box& piece : open) {
      Subtract(piece, Intersect(piece, bins[taken]), left);
    }
    open = std::move(left);
    if (open.size() > many) {
      for (const Box& piece : open) {
        AppendRest(piece, count, bins, rest);
      }
      return;
    }
  }
  rest.insert(rest.end(), open.begin(), open.end());
}

}  // namespace

BlockLayout::BlockLayout(const Catalog& catalog, std::vector<Block> blocks, bool nodes)
    : AllBlocks(std::move(blocks)), Nodes(nodes)
{
  if (catalog.Grid == GridType::Rectilinear && !catalog.Axes[0].Positions.empty()) {
    this->LastColumn = catalog.Axes[0].First + static_cast<int>(catalog.Axes[0].Positions.size()) - 1;
  }
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    Int3& beyond = this->NodesBeyondCells.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      beyond[axis] = catalog.NodesBeyondCells(level, axis);
    }
  }
  this->CollectSources();
  this->FillTable(Centering::Cell);
  if (nodes) {
    this->FillTable(Centering::Node);
  }
}

void BlockLayout::CollectSources()
{
  for (const Block& block : this->AllBlocks) {
    for (const OwnedBox& part : block.Parts) {
      this->SourcePatches.push_back(part.Owner);
    }
    for (const Region& region : block.GhostRegions) {
      this->SourcePatches.push_back(region.Owner);
    }
  }
  std::sort(this->SourcePatches.begin(), this->SourcePatches.end());
  this->SourcePatches.erase(
      std::unique(this->SourcePatches.begin(), this->SourcePatches.end()), this->SourcePatches.end());
}

/// Fills the table by a counting sort of the regions by their owners.
void BlockLayout::FillTable(Centering centering)
{
  Table& table = this->Tables[static_cast<int>(centering)];
  std::vector<Placement> placements;
  std::vector<std::size_t> sources;
  table.First.assign(this->SourcePatches.size() + 1, 0);
  for (std::size_t b = 0; b < this->AllBlocks.size(); ++b) {
    std::int64_t values = 0;
    for (const Region& region : this->RegionsOf(b, centering)) {
      const auto owner =
          std::lower_bound(this->SourcePatches.begin(), this->SourcePatches.end(), region.Owner);
      sources.push_back(owner - this->SourcePatches.begin());
      placements.push_back({static_cast<std::uint32_t>(b), region.Cells, region.Ratio});
      ++table.First[sources.back() + 1];
      values += region.Cells.CellCount();
    }
    table.Complete.push_back(values == this->ValueBox(b, centering).CellCount());
  }
  std::partial_sum(table.First.begin(), table.First.end(), table.First.begin());
  std::vector<std::size_t> next = table.First;
  table.Placements.resize(placements.size());
  for (std::size_t i = 0; i < placements.size(); ++i) {
    table.Placements[next[sources[i]]++] = placements[i];
  }
}

std::vector<Region> BlockLayout::RegionsOf(std::size_t block, Centering centering) const
{
  return centering == Centering::Cell ? this->CellRegions(this->AllBlocks[block])
                                      : this->NodeRegions(this->AllBlocks[block]);
}

std::vector<Region> BlockLayout::CellRegions(const Block& block) const
{
  std::vector<Region> regions;
  for (const OwnedBox& part : block.Parts) {
    regions.push_back({part.Cells, part.Owner, {1, 1, 1}});
  }
  regions.insert(regions.end(), block.GhostRegions.begin(), block.GhostRegions.end());
  return regions;
}

/// Returns the node regions of a block in the order of their precedence, each without the nodes of the
/// regions before it. Regions of coarser levels are left out, because a coarse node does not represent
/// several fine ones; FillGaps() fills such nodes.
std::vector<Region> BlockLayout::NodeRegions(const Block& block) const
{
  std::vector<Region> candidates = this->CellRegions(block);
  std::sort(candidates.begin(), candidates.begin() + block.Parts.size(),
      [](const Region& a, const Region& b) { return a.Owner > b.Owner; });
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                       [](const Region& region) {
                         return region.Ratio != Int3{1, 1, 1};
                       }),
      candidates.end());
  std::vector<Box> boxes;
  for (const Region& candidate : candidates) {
    boxes.push_back(this->NodesOf(block.Level, candidate.Cells));
  }
  const BoxBins bins(boxes);
  std::vector<Region> regions;
  std::vector<Box> rest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    rest.clear();
    AppendRest(boxes[i], static_cast<int>(i), bins, rest);
    for (const Box& box : rest) {
      // Nodes after the last column are those of the first column, see CloseSeam().
      Box before = box, behind = box;
      before.Upper[0] = std::min(before.Upper[0], this->LastColumn);
      behind.Lower[0] = std::max(behind.Lower[0], this->LastColumn + 1);
      for (const Box& part : {before, behind}) {
        if (!part.Empty()) {
          regions.push_back({part, candidates[i].Owner, {1, 1, 1}});
        }
      }
    }
  }
  return regions;
}

Box BlockLayout::NodesOf(int level, const Box& cells) const
{
  Box nodes = cells;
  for (int axis = 0; axis < 3; ++axis) {
    nodes.Upper[axis] += this->NodesBeyondCells[level][axis];
  }
  return nodes;
}

Box BlockLayout::ValueBox(std::size_t block, Centering centering) const
{
  const Box cells = GridCells(this->AllBlocks[block]);
  return centering == Centering::Cell ? cells : this->NodesOf(this->AllBlocks[block].Level, cells);
}

Box BlockLayout::PlanesWithGaps(std::size_t block, Centering centering) const
{
  Box planes = this->ValueBox(block, centering);
  const std::int64_t whole = planes.Width(0) * planes.Width(1);
  // Number of filled values in a plane minus the number in the plane before.
  std::vector<std::int64_t> change(planes.Width(2) + 1, 0);
  for (const Region& region : this->RegionsOf(block, centering)) {
    const std::int64_t inPlane = region.Cells.Width(0) * region.Cells.Width(1);
    change[region.Cells.Lower[2] - planes.Lower[2]] += inPlane;
    change[region.Cells.Upper[2] - planes.Lower[2] + 1] -= inPlane;
  }
  int first = planes.Upper[2] + 1;
  int last = planes.Lower[2] - 1;
  std::int64_t filled = 0;
  for (int k = planes.Lower[2]; k <= planes.Upper[2]; ++k) {
    filled += change[k - planes.Lower[2]];
    first = filled < whole ? std::min(first, k) : first;
    last = filled < whole ? k : last;
  }
  planes.Lower[2] = std::max(planes.Lower[2], first - 1);
  planes.Upper[2] = std::min(planes.Upper[2], last + 1);
  return first <= last ? planes : Box();
}

std::vector<std::uint8_t> BlockLayout::FilledFlags(
    std::size_t block, Centering centering, const Box& planes) const
{
  std::vector<std::uint8_t> filled(planes.CellCount(), 0);
  for (const Region& region : this->RegionsOf(block, centering)) {
    const Box common = Intersect(region.Cells, planes);
    if (!common.Empty()) {
      MarkBox(planes, common, 1, filled.data());
    }
  }
  return filled;
}

}  // namespace patchio
