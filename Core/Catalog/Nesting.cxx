#include "Catalog/Nesting.h"

#include <algorithm>
#include <utility>

namespace patchio {
namespace {

/// Marks the fine cells that children cover, with one bit per fine cell in a mask per coarse cell of `patch`.
/// The masks are needed only if edges of children cut coarse cells. A coarse cell may contain at most 64 fine
/// cells.
class CoverMasks
{
public:
  CoverMasks(const Box& patch, const Int3& ratio) : PatchBox(patch), Ratio(ratio), Masks(patch.CellCount(), 0)
  {
  }

  void Add(const Box& fine)
  {
    const Box coarse = Intersect(Coarsen(fine, this->Ratio), this->PatchBox);
    for (int k = coarse.Lower[2]; k <= coarse.Upper[2]; ++k) {
      for (int j = coarse.Lower[1]; j <= coarse.Upper[1]; ++j) {
        std::size_t row = IndexIn(this->PatchBox, {coarse.Lower[0], j, k});
        for (int i = coarse.Lower[0]; i <= coarse.Upper[0]; ++i, ++row) {
          this->Masks[row] |= this->MaskOf({i, j, k}, fine);
        }
      }
    }
  }

  std::vector<std::uint8_t> Covered() const
  {
    const int bits = this->Ratio[0] * this->Ratio[1] * this->Ratio[2];
    const std::uint64_t full = bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
    std::vector<std::uint8_t> covered(this->Masks.size());
    std::transform(this->Masks.begin(), this->Masks.end(), covered.begin(),
        [full](std::uint64_t mask) { return mask == full ? 1 : 0; });
    return covered;
  }

private:
  std::uint64_t MaskOf(const Int3& cell, const Box& fine) const
  {
    std::uint64_t mask = 0;
    std::uint64_t bit = 1;
    const Int3 first{cell[0] * this->Ratio[0], cell[1] * this->Ratio[1], cell[2] * this->Ratio[2]};
    for (int k = first[2]; k < first[2] + this->Ratio[2]; ++k) {
      for (int j = first[1]; j < first[1] + this->Ratio[1]; ++j) {
        for (int i = first[0]; i < first[0] + this->Ratio[0]; ++i, bit <<= 1) {
          const bool inside = i >= fine.Lower[0] && i <= fine.Upper[0] && j >= fine.Lower[1] &&
                              j <= fine.Upper[1] && k >= fine.Lower[2] && k <= fine.Upper[2];
          mask |= inside ? bit : 0;
        }
      }
    }
    return mask;
  }

  Box PatchBox;
  Int3 Ratio;
  std::vector<std::uint64_t> Masks;
};

/// Returns the box of coarse cells that `fine` covers completely.
Box CoarsenInside(const Box& fine, const Int3& ratio)
{
  Box result;
  for (int axis = 0; axis < 3; ++axis) {
    result.Lower[axis] = FloorDivide(fine.Lower[axis] + ratio[axis] - 1, ratio[axis]);
    result.Upper[axis] = FloorDivide(fine.Upper[axis] + 1, ratio[axis]) - 1;
  }
  return result;
}

std::vector<std::uint8_t> CoveredBySingleChildren(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  std::vector<std::uint8_t> flags(patch.CellCount(), 0);
  for (const int child : children) {
    const Box part = Intersect(CoarsenInside(catalog.Patches[child].Cells, ratio), patch);
    if (!part.Empty()) {
      MarkBox(patch, part, 1, flags.data());
    }
  }
  return flags;
}

std::vector<std::uint8_t> CoveredByAllChildren(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  CoverMasks masks(patch, ratio);
  for (const int child : children) {
    masks.Add(catalog.Patches[child].Cells);
  }
  return masks.Covered();
}

/// Returns whether an edge of a child cuts coarse cells of the patch.
bool EdgesCutCells(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  return std::any_of(children.begin(), children.end(), [&](int child) {
    const Box& fine = catalog.Patches[child].Cells;
    return !(Intersect(Coarsen(fine, ratio), patch) == Intersect(CoarsenInside(fine, ratio), patch));
  });
}

}  // namespace

Nesting::Nesting(const Catalog& catalog, const std::vector<bool>& shown)
    : Data(catalog), Shown(shown), OwnersUnknown(catalog.Levels.size(), false)
{
  if (catalog.KnowsPositions()) {
    for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
      this->ShownPatches.push_back(this->PatchesOf(catalog.Levels[level]));
      if (catalog.RoleOf(level) != LevelRole::Separate) {
        this->AssignOwners(level);
      }
    }
  }
}

void Nesting::AssignOwners(int level)
{
  LevelPatches& patches = this->ShownPatches[level];
  std::optional<std::map<int, std::vector<Box>>> rests = patches.Bins.UniqueParts();
  this->OwnersUnknown[level] = !rests;
  if (!rests || rests->empty()) {
    return;
  }
  for (auto& [index, boxes] : *rests) {
    this->OwnedParts.emplace_hint(this->OwnedParts.end(), patches.Numbers[index], std::move(boxes));
  }
  std::vector<Box> own;
  for (const int patch : patches.Numbers) {
    const std::vector<Box> boxes = this->OwnedCells(patch);
    own.insert(own.end(), boxes.begin(), boxes.end());
  }
  patches.OwnedBins.emplace(std::move(own));
}

bool Nesting::KnowsOwners(int level) const
{
  return !this->OwnersUnknown[level];
}

std::vector<Box> Nesting::OwnedCells(int patch) const
{
  const auto found = this->OwnedParts.find(patch);
  return found == this->OwnedParts.end() ? std::vector<Box>{this->Data.Patches[patch].Cells} : found->second;
}

Nesting::LevelPatches Nesting::PatchesOf(const Level& level) const
{
  std::vector<int> numbers;
  std::vector<Box> boxes;
  const auto first = this->Shown.begin() + level.FirstPatch;
  const auto count = static_cast<std::size_t>(std::count(first, first + level.PatchCount, true));
  numbers.reserve(count);  // exact: both vectors are kept without unused capacity
  boxes.reserve(count);
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    if (this->Shown[p]) {
      numbers.push_back(p);
      boxes.push_back(this->Data.Patches[p].Cells);
    }
  }
  return {std::move(numbers), BoxBins(std::move(boxes)), std::nullopt};
}

std::vector<int> Nesting::PatchesIntersecting(int level, const Box& cells) const
{
  std::vector<int> patches = this->ShownPatches[level].Bins.Intersecting(cells);
  for (int& patch : patches) {
    patch = this->ShownPatches[level].Numbers[patch];
  }
  return patches;
}

std::vector<int> Nesting::ChildrenOf(int patch) const
{
  return this->ChildrenOf(patch, this->Data.Patches[patch].Cells);
}

std::vector<int> Nesting::ChildrenOf(int patch, const Box& part) const
{
  std::vector<int> children;
  const Patch& parent = this->Data.Patches[patch];
  if (parent.Level + 1 >= static_cast<int>(this->Data.Levels.size()) ||
      this->Data.RoleOf(parent.Level + 1) != LevelRole::Refinement) {
    return children;
  }
  if (!this->Data.KnowsPositions()) {
    for (int i = this->Data.ChildBegin.empty() ? 0 : this->Data.ChildBegin[patch];
         !this->Data.ChildBegin.empty() && i < this->Data.ChildBegin[patch + 1]; ++i) {
      if (this->Shown[this->Data.Children[i]]) {
        children.push_back(this->Data.Children[i]);
      }
    }
  } else {
    const Int3& ratio = this->Data.Levels[parent.Level + 1].Ratio;
    return this->PatchesIntersecting(parent.Level + 1, Refine(part, ratio));
  }
  return children;
}

std::vector<Box> Nesting::CoveredBoxes(int patch) const
{
  std::vector<Box> covered;
  const int finer = this->Data.Patches[patch].Level + 1;
  if (finer >= static_cast<int>(this->Data.Levels.size()) ||
      this->Data.RoleOf(finer) != LevelRole::Refinement) {
    return covered;
  }
  const LevelPatches& level = this->ShownPatches[finer];
  const BoxBins& bins = level.OwnedBins ? *level.OwnedBins : level.Bins;
  const Int3& ratio = this->Data.Levels[finer].Ratio;
  for (const Box& own : this->OwnedCells(patch)) {
    for (const int index : bins.Intersecting(Refine(own, ratio))) {
      const Box part = Intersect(CoarsenInside(bins[index], ratio), own);
      if (!part.Empty()) {
        covered.push_back(part);
      }
    }
  }
  return covered;
}

std::vector<std::uint8_t> Nesting::CoveredCells(int patch) const
{
  return this->CoveredCells(patch, this->Data.Patches[patch].Cells);
}

std::vector<std::uint8_t> Nesting::CoveredCells(int patch, const Box& part) const
{
  const std::vector<int> children = this->ChildrenOf(patch, part);
  if (children.empty()) {
    return {};
  }
  const Int3& ratio = this->Data.Levels[this->Data.Patches[patch].Level + 1].Ratio;
  const std::int64_t fineInCoarse = std::int64_t(ratio[0]) * ratio[1] * ratio[2];
  const bool together = fineInCoarse <= 64 && EdgesCutCells(this->Data, part, ratio, children);
  std::vector<std::uint8_t> covered = together ? CoveredByAllChildren(this->Data, part, ratio, children)
                                               : CoveredBySingleChildren(this->Data, part, ratio, children);
  const bool any = std::any_of(covered.begin(), covered.end(), [](std::uint8_t flag) { return flag != 0; });
  return any ? covered : std::vector<std::uint8_t>();
}

std::vector<std::uint8_t> Nesting::CellsShownElsewhere(int patch) const
{
  std::vector<std::uint8_t> flags = this->CoveredCells(patch);
  if (!this->HasUnownedCells(patch)) {
    return flags;
  }
  const Box& box = this->Data.Patches[patch].Cells;
  std::vector<std::uint8_t> elsewhere(box.CellCount(), 1);
  for (const Box& own : this->OwnedCells(patch)) {
    MarkBox(box, own, 0, elsewhere.data());
  }
  for (std::size_t cell = 0; cell < flags.size(); ++cell) {
    elsewhere[cell] |= flags[cell];
  }
  return elsewhere;
}

std::vector<std::uint8_t> Nesting::SharedCells(int patch, const Int3& ghosts) const
{
  const Box& own = this->Data.Patches[patch].Cells;
  const Box grown = Grow(own, ghosts);
  std::vector<std::uint8_t> flags(grown.CellCount(), 0);
  MarkBox(grown, own, 1, flags.data());
  if (!this->Data.KnowsPositions()) {
    return flags;
  }
  // The loop goes from the patch's level down to level 0. `ratio`: cells of the patch's level per cell of
  // `level`, per axis.
  Int3 ratio{1, 1, 1};
  for (int level = this->Data.Patches[patch].Level; level >= 0; --level) {
    const bool refines = this->Data.RoleOf(level) == LevelRole::Refinement;
    for (const int other : this->PatchesIntersecting(level, Coarsen(grown, ratio))) {
      MarkBox(grown, Intersect(Refine(this->Data.Patches[other].Cells, ratio), grown), 1, flags.data());
    }
    ratio = MultiplyRatios(ratio, this->Data.Levels[level].Ratio);
    if (!refines) {
      break;
    }
  }
  return flags;
}

std::optional<std::pair<int, int>> FindOverlap(const Catalog& catalog)
{
  std::optional<std::pair<int, int>> found;
  for (const Level& level : catalog.Levels) {
    std::vector<Box> boxes;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      boxes.push_back(catalog.Patches[p].Cells);
    }
    const BoxBins bins(boxes);
    for (int i = 0; i < level.PatchCount; ++i) {
      bins.ForEachIntersecting(boxes[i], [&](int other) {
        if (other != i) {
          found = {level.FirstPatch + i, level.FirstPatch + other};
        }
        return other == i;
      });
      if (found) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace patchio
