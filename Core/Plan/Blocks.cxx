#include "Plan/Blocks.h"

#include "Plan/BoxCover.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace patchio {

namespace {

int LowestPatch(const Block& block)
{
  return std::min_element(block.Parts.begin(), block.Parts.end(), [](const OwnedBox& a, const OwnedBox& b) {
    return a.Owner < b.Owner;
  })->Owner;
}

/// Merges patches into blocks, level by level.
class Merger
{
public:
  Merger(const Catalog& catalog, const std::vector<bool>& shown, const std::vector<int>& patchTypes,
      const Nesting& nesting, bool hideRefined, const CoverOptions& options)
      : Data(catalog),
        Shown(shown),
        Types(patchTypes),
        PatchNesting(nesting),
        HideRefined(hideRefined),
        Options(options)
  {
  }

  std::vector<Block> Run()
  {
    for (int level = 0; level < static_cast<int>(this->Data.Levels.size()); ++level) {
      this->MergeLevel(level);
    }
    return std::move(this->Blocks);
  }

private:
  /// Patches of one level and one type, see PatchTypes().
  struct Group
  {
    std::vector<OwnedBox> Owned;
    std::vector<Box> Hidden;
  };

  void MergeLevel(int level);
  void AddCover(int level, const Group& group);
  void SortBlocks(std::size_t first);
  void AddPatch(Group& group, int patch, bool hideRefined) const;
  bool CanMerge(int patch) const
  {
    // Sums of smaller numbers of cells are exact in doubles.
    constexpr std::int64_t huge = std::int64_t(1) << 40;
    const Patch& info = this->Data.Patches[patch];
    return this->PatchNesting.KnowsOwners(info.Level) && info.Cells.CellCount() < huge;
  }

  const Catalog& Data;
  const std::vector<bool>& Shown;
  const std::vector<int>& Types;
  const Nesting& PatchNesting;
  const bool HideRefined;
  const CoverOptions& Options;
  std::vector<Block> Blocks;
};

void Merger::MergeLevel(int level)
{
  const std::size_t first = this->Blocks.size();
  const Level& info = this->Data.Levels[level];
  const bool finerKnown =
      level + 1 == static_cast<int>(this->Data.Levels.size()) || this->PatchNesting.KnowsOwners(level + 1);
  std::map<int, Group> groups;
  for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
    if (this->Shown[p] && !this->CanMerge(p)) {
      this->Blocks.push_back(BlockOfPatch(this->Data, p));
    } else if (this->Shown[p]) {
      this->AddPatch(groups[this->Types[p]], p, this->HideRefined && finerKnown);
    }
  }
  for (const auto& [type, group] : groups) {
    this->AddCover(level, group);
  }
  this->SortBlocks(first);
}

/// Adds the patch's owned cells to the group and, if `hideRefined` is set, the cells that the next finer
/// level hides.
void Merger::AddPatch(Group& group, int patch, bool hideRefined) const
{
  for (const Box& cells : this->PatchNesting.OwnedCells(patch)) {
    group.Owned.push_back({cells, patch});
  }
  if (hideRefined) {
    const std::vector<Box> covered = this->PatchNesting.CoveredBoxes(patch);
    group.Hidden.insert(group.Hidden.end(), covered.begin(), covered.end());
  }
}

/// Sorts the blocks from `first` on by their lowest patch, and blocks with the same lowest patch by their
/// position.
void Merger::SortBlocks(std::size_t first)
{
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t b = first; b < this->Blocks.size(); ++b) {
    order.emplace_back(LowestPatch(this->Blocks[b]), b);
  }
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first
                              : this->Blocks[a.second].Cells.Lower < this->Blocks[b.second].Cells.Lower;
  });
  std::vector<Block> sorted;
  sorted.reserve(order.size());
  for (const auto& [lowest, b] : order) {
    sorted.push_back(std::move(this->Blocks[b]));
  }
  std::move(sorted.begin(), sorted.end(), this->Blocks.begin() + first);
}

void Merger::AddCover(int level, const Group& group)
{
  for (CoverBox& box : CoverBoxes(group.Owned, group.Hidden, this->Options)) {
    Block& block = this->Blocks.emplace_back();
    block.Level = level;
    block.Cells = box.Cells;
    block.Parts = std::move(box.Parts);
    block.Full = box.Full;
  }
}

}  // namespace

Block BlockOfPatch(const Catalog& catalog, int number)
{
  const Patch& patch = catalog.Patches[number];
  Block block;
  block.Level = patch.Level;
  block.Cells = patch.Cells;
  block.Parts = {{patch.Cells, number}};
  return block;
}

std::vector<Block> BlocksOfPatches(const Catalog& catalog, const std::vector<int>& patches)
{
  std::vector<Block> blocks;
  blocks.reserve(patches.size());
  for (const int patch : patches) {
    blocks.push_back(BlockOfPatch(catalog, patch));
  }
  return blocks;
}

namespace {

/// Splits the types of PatchTypes(): patches of a separate level have the same type only if the patches have
/// the same Patch::Number.
void SplitSeparate(const Catalog& catalog, int typeCount, std::vector<int>& patchTypes)
{
  std::map<std::array<int, 3>, int> separate;  // level, number, type -> new type
  for (std::size_t p = 0; p < patchTypes.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    if (catalog.RoleOf(patch.Level) == LevelRole::Separate) {
      const int next = typeCount + static_cast<int>(separate.size());
      patchTypes[p] =
          separate.emplace(std::array<int, 3>{patch.Level, patch.Number, patchTypes[p]}, next).first->second;
    }
  }
}

}  // namespace

std::vector<int> PatchTypes(const Catalog& catalog, const std::vector<int>& variables)
{
  std::vector<int> patchTypes(catalog.Patches.size(), 0);
  int typeCount = 1;
  // Each variable splits each type into two: patches with the variable and patches without it.
  for (const int variable : variables) {
    std::vector<std::array<int, 2>> split(typeCount, {-1, -1});
    typeCount = 0;
    for (std::size_t p = 0; p < patchTypes.size(); ++p) {
      const bool present = catalog.PresenceOf(variable, static_cast<int>(p)) != Presence::Absent;
      int& type = split[patchTypes[p]][present ? 1 : 0];
      type = type < 0 ? typeCount++ : type;
      patchTypes[p] = type;
    }
  }
  SplitSeparate(catalog, typeCount, patchTypes);
  return patchTypes;
}

std::vector<Block> MakeBlocks(const Catalog& catalog, const std::vector<bool>& shown,
    const std::vector<int>& patchTypes, const Nesting& nesting, bool hideRefined, const BlockOptions& options)
{
  if (options.Merge && catalog.KnowsPositions()) {
    return Merger(catalog, shown, patchTypes, nesting, hideRefined, options.Cover).Run();
  }
  std::vector<int> patches;
  for (std::size_t p = 0; p < shown.size(); ++p) {
    if (shown[p]) {
      patches.push_back(static_cast<int>(p));
    }
  }
  return BlocksOfPatches(catalog, patches);
}

namespace {

/// Adds one ghost layer to a block that was cut out of a block with the cells `whole`: the adjacent cells of
/// `parts`, the kept parts of that block.
void AddInnerLayer(const BoxBins& bins, const std::vector<OwnedBox>& parts, const Box& whole, Block& block)
{
  std::vector<Box> around;
  const Box grown = Intersect(Grow(block.Cells, {1, 1, 1}), whole);
  Subtract(grown, block.Cells, around);
  for (const Box& box : around) {
    for (const int part : bins.Intersecting(box)) {
      block.GhostRegions.push_back({Intersect(box, parts[part].Cells), parts[part].Owner, {1, 1, 1}});
    }
  }
  GrowToGhosts(block);
}

void CutBlock(const Block& block, const std::vector<OwnedBox>& parts, const CoverOptions& options,
    std::vector<Block>& cut)
{
  std::int64_t filled = 0;
  for (const OwnedBox& part : block.Parts) {
    filled += part.Cells.CellCount();
  }
  std::vector<Box> boxes;
  for (const OwnedBox& part : parts) {
    boxes.push_back(part.Cells);
  }
  const BoxBins bins(std::move(boxes));
  for (CoverBox& box : CoverBoxes(parts, {}, options)) {
    Block& piece = cut.emplace_back();
    piece.Level = block.Level;
    piece.Cells = box.Cells;
    piece.Parts = std::move(box.Parts);
    piece.Full = box.Full;
    piece.Origin = filled < block.Cells.CellCount() ? CutFrom::BlockWithGaps : CutFrom::BlockWithoutGaps;
    AddInnerLayer(bins, parts, block.Cells, piece);
  }
}

}  // namespace

std::vector<Block> CutToPatches(
    std::vector<Block> blocks, const std::vector<bool>& keptPatches, const CoverOptions& options)
{
  std::vector<Block> cut;
  for (Block& block : blocks) {
    std::vector<OwnedBox> parts;
    std::copy_if(block.Parts.begin(), block.Parts.end(), std::back_inserter(parts),
        [&](const OwnedBox& part) { return keptPatches[part.Owner]; });
    if (parts.size() == block.Parts.size()) {
      cut.push_back(std::move(block));
    } else if (!parts.empty()) {
      CutBlock(block, parts, options, cut);
    }
  }
  return cut;
}

std::vector<Block> CutToBoxes(const Block& block, const std::vector<Box>& boxes, const Nesting& nesting)
{
  std::vector<Box> own;
  std::vector<int> owners;
  for (const OwnedBox& part : block.Parts) {
    for (const Box& cells : nesting.OwnedCells(part.Owner)) {
      const Box common = Intersect(part.Cells, cells);
      if (!common.Empty()) {
        own.push_back(common);
        owners.push_back(part.Owner);
      }
    }
  }
  if (own.empty()) {
    return {};
  }
  const BoxBins bins(own);
  std::vector<Block> cut;
  for (const Box& cells : boxes) {
    Block piece;
    piece.Level = block.Level;
    piece.Cells = cells;
    std::int64_t filled = 0;
    for (const int part : bins.Intersecting(cells)) {
      piece.Parts.push_back({Intersect(own[part], cells), owners[part]});
      filled += piece.Parts.back().Cells.CellCount();
    }
    piece.Full = filled == cells.CellCount();
    if (filled > 0) {
      cut.push_back(std::move(piece));
    }
  }
  return cut;
}

void GrowToGhosts(Block& block)
{
  for (const Region& region : block.GhostRegions) {
    for (int axis = 0; axis < 3; ++axis) {
      const int below = block.Cells.Lower[axis] - region.Cells.Lower[axis];
      const int above = region.Cells.Upper[axis] - block.Cells.Upper[axis];
      block.GhostLower[axis] = std::max(block.GhostLower[axis], below);
      block.GhostUpper[axis] = std::max(block.GhostUpper[axis], above);
    }
  }
}

std::string NameOfBlock(const Catalog& catalog, const Block& block)
{
  std::vector<int> numbers;
  for (const OwnedBox& part : block.Parts) {
    numbers.push_back(catalog.Patches[part.Owner].Number);
  }
  const LevelRole role = catalog.RoleOf(block.Level);
  if (role == LevelRole::Points) {
    return fmt::format("points {} to {}", block.Cells.Lower[0] + 1, block.Cells.Upper[0] + 1);
  }
  if (role == LevelRole::Separate) {
    return fmt::format("cuboid {}", numbers.front());
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers.size() == 1
             ? fmt::format("patch {}", numbers[0])
             : fmt::format("{} patches, {} to {}", numbers.size(), numbers.front(), numbers.back());
}

namespace {

/// Returns the cells of `grown` that are not in parts of `block`, as disjoint boxes.
std::vector<Box> ForeignCells(const Block& block, const Box& grown)
{
  std::vector<Box> foreign;
  if (block.Full) {
    Subtract(grown, block.Cells, foreign);
    return foreign;
  }
  CoverOptions exact;
  exact.BoxCostInCells = 0;
  std::vector<Box> own;
  for (const OwnedBox& part : block.Parts) {
    own.push_back(part.Cells);
  }
  for (const CoverBox& box : CoverBoxes({{grown, 0}}, own, exact)) {
    foreign.push_back(box.Cells);
  }
  return foreign;
}

/// Adds the cells that patches of one level can provide to the GhostRegions of a block.
class LevelFiller
{
public:
  LevelFiller(
      const Catalog& catalog, const Nesting& nesting, const std::vector<int>& patchTypes, Block& block)
      : Data(catalog),
        PatchNesting(nesting),
        Types(patchTypes),
        Target(block),
        Type(patchTypes[block.Parts[0].Owner])
  {
  }

  /// Adds GhostRegions for the cells of `open` that patches of `level` have. Returns the other cells of
  /// `open`, as boxes. `ratio`: cells of the block's level per cell of `level`, per axis.
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
    // With many pieces, subtracting one patch after another takes quadratic time. Each piece by itself has
    // few neighbours.
    constexpr std::size_t many = 256;
    std::vector<Box> boxes{box};
    for (const int patch : this->PatchNesting.PatchesIntersecting(level, Coarsen(box, ratio))) {
      if (this->Types[patch] == this->Type && !boxes.empty()) {
        boxes = this->FillFromPatch(patch, ratio, boxes);
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

  /// Adds GhostRegions for the cells of `boxes` that the patch has. Returns the other cells.
  std::vector<Box> FillFromPatch(int patch, const Int3& ratio, const std::vector<Box>& boxes)
  {
    const Box cells = Refine(this->Data.Patches[patch].Cells, ratio);
    std::vector<Box> rest;
    for (const Box& box : boxes) {
      const Box common = Intersect(box, cells);
      if (!common.Empty()) {
        this->Target.GhostRegions.push_back({common, patch, ratio});
      }
      Subtract(box, common, rest);
    }
    return rest;
  }

  const Catalog& Data;
  const Nesting& PatchNesting;
  const std::vector<int>& Types;
  Block& Target;
  const int Type;
};

}  // namespace

void AddGhostLayer(
    const Catalog& catalog, const Nesting& nesting, const std::vector<int>& patchTypes, Block& block)
{
  assert(catalog.Grid == GridType::Uniform);
  const Int3 layers{1, 1, catalog.Dimension == 3 ? 1 : 0};
  std::vector<Box> open = ForeignCells(block, Grow(block.Cells, layers));
  LevelFiller filler(catalog, nesting, patchTypes, block);
  Int3 ratio{1, 1, 1};
  for (int level = block.Level; level >= 0 && !open.empty(); --level) {
    open = filler.Fill(open, level, ratio);
    ratio = MultiplyRatios(ratio, catalog.Levels[level].Ratio);
    if (catalog.RoleOf(level) != LevelRole::Refinement) {
      break;
    }
  }
  GrowToGhosts(block);
}

bool CoversAllLongitudes(const Catalog& catalog)
{
  constexpr double circle = 360;
  constexpr std::size_t fewest = 3;
  const Axis& columns = catalog.Axes[0];
  if (!catalog.Geographic || catalog.Grid != GridType::Rectilinear || columns.Positions.size() < fewest) {
    return false;
  }
  const double width = columns.Positions.back() - columns.Positions.front();
  const double cell = width / static_cast<double>(columns.Positions.size() - 1);
  const int last = columns.First + static_cast<int>(columns.Positions.size()) - 1;
  return std::abs(width + cell - circle) < 0.5 * cell &&
         std::all_of(catalog.Variables.begin(), catalog.Variables.end(),
             [](const Variable& variable) { return variable.Center == Centering::Node; }) &&
         std::all_of(catalog.Patches.begin(), catalog.Patches.end(), [&](const Patch& patch) {
           return patch.Cells.Lower[0] == columns.First && patch.Cells.Upper[0] + 1 == last;
         });
}

void CloseSeam(const Catalog& catalog, std::vector<Block>& blocks)
{
  const Axis& columns = catalog.Axes[0];
  const int lastCell = columns.First + static_cast<int>(columns.Positions.size()) - 2;
  const auto close = [lastCell](Box& cells) { cells.Upper[0] += cells.Upper[0] == lastCell ? 1 : 0; };
  for (Block& block : blocks) {
    close(block.Cells);
    for (OwnedBox& part : block.Parts) {
      close(part.Cells);
    }
  }
}

}  // namespace patchio
