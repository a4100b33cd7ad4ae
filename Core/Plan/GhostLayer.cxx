#include "Plan/GhostLayer.h"

#include "Plan/BoxCover.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace patchio {
namespace {

/// The cells of the grown block that are none of its own, as disjoint boxes.
std::vector<Box> ForeignCells(const Block& block, const Box& grown)
{
  std::vector<Box> foreign;
  if (block.Full) {
    Subtract(grown, block.Cells, foreign);
    return foreign;
  }
  CoverOptions exact;
  exact.CellsWorthABox = 0;
  std::vector<Box> own;
  for (const OwnedBox& part : block.Parts) {
    own.push_back(part.Cells);
  }
  for (const CoverBox& box : CoverBoxes({{grown, 0}}, own, exact)) {
    foreign.push_back(box.Cells);
  }
  return foreign;
}

/// Takes from `open` what the patches of one level can fill.
class LevelFiller
{
public:
  LevelFiller(const Catalog& catalog, const Nesting& nesting, const std::vector<int>& kinds, Block& block)
      : Data(catalog), Nests(nesting), Kinds(kinds), Target(block), Kind(kinds[block.Parts[0].Owner])
  {
  }

  /// ratio: cells of the block's level in one of `level`, per axis. Returns what is still open.
  std::vector<Box> Fill(const std::vector<Box>& open, int level, const Int3& ratio)
  {
    std::vector<Box> rest;
    for (const Box& box : open) {
      this->FillBox(box, level, ratio, rest);
    }
    return rest;
  }

private:
  void FillBox(const Box& box, int level, const Int3& ratio, std::vector<Box>& rest)
  {
    // Going on with many pieces would take time that grows with the square of their number; each by itself
    // has few neighbours.
    constexpr std::size_t many = 256;
    std::vector<Box> boxes{box};
    for (const int patch : this->Nests.PatchesMeeting(level, Coarsen(box, ratio))) {
      if (this->Kinds[patch] == this->Kind && !boxes.empty()) {
        boxes = this->Take(patch, ratio, boxes);
      }
      if (boxes.size() > many) {
        for (const Box& piece : boxes) {
          this->FillBox(piece, level, ratio, rest);
        }
        return;
      }
    }
    rest.insert(rest.end(), boxes.begin(), boxes.end());
  }

  std::vector<Box> Take(int patch, const Int3& ratio, const std::vector<Box>& boxes)
  {
    const Box cells = Refine(this->Data.Patches[patch].Cells, ratio);
    std::vector<Box> rest;
    for (const Box& box : boxes) {
      const Box common = Intersect(box, cells);
      if (!common.Empty()) {
        this->Target.Fringe.push_back({common, patch, ratio});
      }
      Subtract(box, common, rest);
    }
    return rest;
  }

  const Catalog& Data;
  const Nesting& Nests;
  const std::vector<int>& Kinds;
  Block& Target;
  const int Kind;
};

}  // namespace

void AddGhostLayer(
    const Catalog& catalog, const Nesting& nesting, const std::vector<int>& kinds, Block& block)
{
  assert(catalog.Grid == GridKind::Uniform);
  const Int3 layers{1, 1, catalog.Dimension == 3 ? 1 : 0};
  std::vector<Box> open = ForeignCells(block, Grown(block.Cells, layers));
  LevelFiller filler(catalog, nesting, kinds, block);
  Int3 ratio{1, 1, 1};
  for (int level = block.Level; level >= 0 && !open.empty(); --level) {
    open = filler.Fill(open, level, ratio);
    ratio = Times(ratio, catalog.Levels[level].Ratio);
    if (catalog.RoleOf(level) != LevelRole::Refinement) {
      break;
    }
  }
  GrowToFringe(block);
}

}  // namespace patchio
