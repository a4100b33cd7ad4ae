#include "Read/StepPlan.h"

#include "Base/Error.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "Plan/Partition.h"
#include "Read/CollectiveCalls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace patchio {

std::vector<bool> RangeCache::PatchesWith(
    Communicator& ranks, const Catalog& catalog, const std::string& variable, const ValueRange& range)
{
  const int number = catalog.FindVariable(variable);
  if (number < 0) {
    throw Error("The data have no array '" + variable +
                "'. Select a scalar array of the data as Value Array, or turn off Skip By Value.");
  }
  const std::vector<ValueRange>& ranges = this->RangesOf(ranks, catalog, number);
  return ranges.empty() ? std::vector<bool>() : PatchesWithValues(catalog, ranges, range);
}

const std::vector<ValueRange>& RangeCache::RangesOf(Communicator& ranks, const Catalog& catalog, int variable)
{
  const std::string key =
      std::to_string(variable) + " " + std::to_string(catalog.StepInFile) + " " + catalog.Path;
  const auto known = std::find_if(
      this->Known.begin(), this->Known.end(), [&key](const RangesOfStep& step) { return step.Key == key; });
  if (known != this->Known.end()) {
    return known->Ranges;
  }
  this->Known.push_front({key, ReadRanges(ranks, catalog, variable)});
  this->Known.resize(std::min(this->Known.size(), MostKnown));
  return this->Known.front().Ranges;
}

ShownPatches::ShownPatches(const Catalog& catalog, const StepOptions& options)
    : Data(&catalog),
      FirstLevel(options.FirstLevel),
      LastLevel(options.LastLevel),
      Grids(options.Grids),
      TouchesRegion(PatchesNear(catalog, options.Region)),
      WithValues(options.WithValues)
{
  for (const Patch& patch : catalog.Patches) {
    this->Shown.push_back(patch.Level >= options.FirstLevel && patch.Level <= options.LastLevel);
  }
}

void ShownPatches::LeaveOutGrids(const std::vector<int>& variables)
{
  const std::vector<bool> leftOut =
      ExcludedLevels(*this->Data, this->FirstLevel, this->LastLevel, variables, this->Grids);
  for (std::size_t p = 0; p < this->Shown.size(); ++p) {
    this->Shown[p] = this->Shown[p] && !leftOut[this->Data->Patches[p].Level];
  }
}

bool ShownPatches::LeaveOutBroken(const std::vector<int>& patches)
{
  const std::size_t before = this->BrokenCount;
  for (const int patch : patches) {
    this->BrokenCount += this->Shown[patch] ? 1 : 0;
    this->Shown[patch] = false;
  }
  return this->BrokenCount > before;
}

std::vector<bool> ShownPatches::PatchesToRead() const
{
  std::vector<bool> flags = this->PatchesInRegion();
  for (std::size_t p = 0; p < this->WithValues.size(); ++p) {
    flags[p] = flags[p] && this->WithValues[p];
  }
  return flags;
}

std::vector<bool> ShownPatches::PatchesInRegion() const
{
  std::vector<bool> flags = this->Shown;
  for (std::size_t p = 0; p < flags.size(); ++p) {
    flags[p] = flags[p] && this->TouchesRegion[p];
  }
  return flags;
}

std::string ShownPatches::EmptyText() const
{
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  if (this->Shown.empty() || any(this->PatchesToRead())) {
    return {};
  }
  if (any(this->Shown)) {
    return "The output is empty, because Region or Skip By Value skips all patches. Widen the Region or "
           "Value Range, or turn off Region or Skip By Value.";
  }
  return "The output is empty, because Level Range " + std::to_string(this->FirstLevel) + " to " +
         std::to_string(this->LastLevel) + " contains none of the " +
         std::to_string(this->Data->Levels.size()) + " levels of this time step.";
}

std::string ShownPatches::LeftOutText() const
{
  const auto count = [](const std::vector<bool>& flags) {
    return std::count(flags.begin(), flags.end(), true);
  };
  const auto shown = count(this->Shown), read = count(this->PatchesToRead());
  return shown == read ? std::string()
                       : fmt::format("Region or Skip By Value skips {} of {} patches", shown - read, shown);
}

namespace {

bool HasPlainBoxes(const Catalog& catalog, const StepOptions& options)
{
  return catalog.KnowsPositions() && options.Ghosts == Int3{0, 0, 0};
}

/// Returns the options for blocks. If there are several pieces, each piece gets several blocks, for a
/// balanced load.
BlockOptions OptionsForPieces(
    const Catalog& catalog, const StepOptions& options, const std::vector<bool>& planned)
{
  constexpr double blocksOfPiece = 4;
  constexpr double least = 4096;
  BlockOptions blocks = options.Blocks;
  blocks.Merge = MergesPatches(catalog, options);
  if (options.Pieces > 1) {
    double cells = 0;
    for (std::size_t p = 0; p < planned.size(); ++p) {
      cells += planned[p] ? static_cast<double>(catalog.Patches[p].Cells.CellCount()) : 0;
    }
    const double most = std::max(least, cells / (blocksOfPiece * options.Pieces));
    blocks.Cover.MostCells =
        static_cast<std::int64_t>(std::min(static_cast<double>(blocks.Cover.MostCells), most));
  }
  return blocks;
}

std::int64_t StoredValues(const Catalog& catalog, const std::vector<int>& variables, int patch)
{
  std::int64_t values = 0;
  for (const int variable : variables) {
    if (catalog.PresenceOf(variable, patch) == Presence::Stored) {
      values += catalog.StoredTuples(variable, patch) * catalog.Variables[variable].Components;
    }
  }
  return values;
}

/// Returns the cost of reading each block, as a number of stored values.
std::vector<std::int64_t> Weights(
    const Catalog& catalog, const std::vector<Block>& blocks, const std::vector<int>& variables)
{
  std::vector<std::int64_t> weights;
  for (const Block& block : blocks) {
    double weight = 0;
    for (const OwnedBox& part : block.Parts) {
      const double share = static_cast<double>(part.Cells.CellCount()) /
                           static_cast<double>(catalog.Patches[part.Owner].Cells.CellCount());
      weight += share * static_cast<double>(StoredValues(catalog, variables, part.Owner));
    }
    weights.push_back(static_cast<std::int64_t>(std::min(weight, 1e15)));
  }
  return weights;
}

/// Returns StepPlan::GridsKey. The flags of cells depend on the shown patches of all ranks, not only on this
/// rank's blocks: finer patches hide cells of coarser patches, and ghost layers repeat cells of neighbors.
std::string KeyOfGrids(const StepPlan& plan, const Catalog& catalog, const std::vector<bool>& shown,
    const StepOptions& options, const std::vector<int>& variables)
{
  if (catalog.StepsInFile == 1 || catalog.PatchesChange) {
    return {};
  }
  std::vector<std::int64_t> numbers(variables.begin(), variables.end());
  numbers.insert(numbers.end(),
      {options.HideRefined, options.GhostLayer, options.PatchIds, std::int64_t(options.PointLists),
          options.Sphere, options.Partial, options.Vectors, options.Piece, options.Pieces});
  const auto add = [&numbers](
                       const Int3& index) { numbers.insert(numbers.end(), index.begin(), index.end()); };
  add(options.Ghosts);
  for (std::size_t p = 0; p < shown.size(); ++p) {
    if (shown[p] != (p > 0 && shown[p - 1])) {
      numbers.push_back(static_cast<std::int64_t>(p));
    }
  }
  for (const std::size_t b : plan.LocalBlocks) {
    numbers.insert(numbers.end(), {-1, static_cast<std::int64_t>(b), std::int64_t(plan.Blocks[b].Origin)});
    for (const OwnedBox& part : plan.Blocks[b].Parts) {
      numbers.push_back(part.Owner);
    }
    add(plan.Blocks[b].Cells.Lower);
    add(plan.Blocks[b].Cells.Upper);
  }
  return fmt::format("{} {}", catalog.Path, fmt::join(numbers, " "));
}

bool HasPoints(const Catalog& catalog, const std::vector<Block>& blocks)
{
  return std::any_of(blocks.begin(), blocks.end(),
      [&](const Block& block) { return catalog.RoleOf(block.Level) == LevelRole::Points; });
}

/// Replaces each block by the parts that the plane may cut, in the same piece, so that no other piece reads
/// their patches.
void CutToPlane(const Catalog& catalog, const StepOptions& options, StepPlan& plan)
{
  // Thinner columns have fewer cells, but each column is a grid, and VTK makes about ten thousand grids a
  // second.
  constexpr double columns = 2000;
  double faces = 0;
  for (const Block& block : plan.Blocks) {
    faces += std::pow(static_cast<double>(block.Cells.CellCount()), 2.0 / 3);
  }
  const int thickness = static_cast<int>(std::clamp(std::sqrt(faces / columns), 8.0, 1e6));
  std::vector<Block> blocks;
  std::vector<int> pieces;
  for (std::size_t b = 0; b < plan.Blocks.size(); ++b) {
    const Block& block = plan.Blocks[b];
    const std::vector<Box> boxes = CellsOnPlane(catalog, block.Level, block.Cells, options.Region, thickness);
    for (Block& part : CutToBoxes(block, boxes, *plan.Nests)) {
      blocks.push_back(std::move(part));
      pieces.push_back(plan.PieceOfBlock[b]);
    }
  }
  plan.Blocks = std::move(blocks);
  plan.PieceOfBlock = std::move(pieces);
}

}  // namespace

StepPlan MakePlan(const Catalog& catalog, const ShownPatches& patches, const StepOptions& options,
    const std::vector<int>& variables)
{
  StepPlan plan;
  const std::vector<bool> toRead = patches.PatchesToRead();
  const std::vector<int> types = PatchTypes(catalog, variables);
  plan.Nests = std::make_unique<Nesting>(catalog, patches.Flags());
  const std::vector<int> preferred = PreferredRanks(catalog, options.Pieces);
  // Blocks must end at the same places with and without Skip By Value, so that contours look the same.
  const bool cut = MergesPatches(catalog, options) && catalog.Grid == GridType::Uniform &&
                   !options.GhostLayer && !options.WithValues.empty() && !options.Slice;
  const std::vector<bool> planned = cut ? patches.PatchesInRegion() : toRead;
  const BlockOptions blocks = OptionsForPieces(catalog, options, planned);
  plan.Blocks = MakeBlocks(
      catalog, planned, TypesByPreferredRank(types, preferred), *plan.Nests, options.HideRefined, blocks);
  if (cut) {
    plan.Blocks = CutToPatches(std::move(plan.Blocks), toRead, blocks.Cover);
  }
  plan.PieceOfBlock =
      PartitionBlocks(plan.Blocks, preferred, Weights(catalog, plan.Blocks, variables), options.Pieces);
  if (options.Sphere && CoversAllLongitudes(catalog)) {
    CloseSeam(catalog, plan.Blocks);
  }
  plan.Sliced = options.Slice && !catalog.IsMesh() && !(options.Sphere && catalog.Geographic);
  if (plan.Sliced && catalog.KnowsPositions() && !HasPoints(catalog, plan.Blocks)) {
    CutToPlane(catalog, options, plan);
  }
  for (std::size_t b = 0; b < plan.Blocks.size(); ++b) {
    if (plan.PieceOfBlock[b] == options.Piece) {
      plan.LocalBlocks.push_back(b);
      if (AddsGhostLayer(catalog, options) && catalog.RoleOf(plan.Blocks[b].Level) != LevelRole::Points) {
        AddGhostLayer(catalog, *plan.Nests, types, plan.Blocks[b]);
      }
    }
  }
  plan.GridsKey = KeyOfGrids(plan, catalog, patches.Flags(), options, variables);
  return plan;
}

bool MergesPatches(const Catalog& catalog, const StepOptions& options)
{
  return options.Blocks.Merge && HasPlainBoxes(catalog, options);
}

bool AddsGhostLayer(const Catalog& catalog, const StepOptions& options)
{
  return options.GhostLayer && catalog.Grid == GridType::Uniform && HasPlainBoxes(catalog, options);
}

std::string NoGhostLayerText(const Catalog& catalog, const StepOptions& options)
{
  if (!options.GhostLayer || AddsGhostLayer(catalog, options)) {
    return {};
  }
  return catalog.Grid == GridType::Uniform ? "Add Ghost Layer has no effect while Read Ghost Cells is on"
         : catalog.Grid == GridType::Rectilinear
             ? "Add Ghost Layer has no effect on these data, because blocks share the nodes between them"
         : catalog.IsMesh() ? "Add Ghost Layer has no effect on meshes"
                            : "Add Ghost Layer has no effect on deformed patches";
}

std::string PartialGhostLayerText(const Catalog& catalog, const ShownPatches& patches,
    const StepOptions& options, const std::vector<int>& variables)
{
  std::string names;
  for (const int variable : AddsGhostLayer(catalog, options) ? variables : std::vector<int>()) {
    std::array<bool, 2> seen{false, false};
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      if (patches.Flags()[p]) {
        seen[catalog.PresenceOf(variable, static_cast<int>(p)) != Presence::Absent ? 1 : 0] = true;
      }
    }
    if (seen[0] && seen[1]) {
      names += (names.empty() ? "'" : ", '") + catalog.Variables[variable].Name + "'";
    }
  }
  return names.empty() ? std::string()
                       : "Add Ghost Layer adds no cells between patches that have " + names +
                             " and patches that do not: select variables that all patches have";
}

std::uint64_t PatchesOfPiece(const StepPlan& plan, const Catalog& catalog, const StepOptions& options)
{
  std::vector<bool> counted(catalog.Patches.size(), false);
  std::uint64_t count = 0;
  for (std::size_t b = 0; b < plan.Blocks.size(); ++b) {
    for (const OwnedBox& part : plan.Blocks[b].Parts) {
      count += !counted[part.Owner] && plan.PieceOfBlock[b] == options.Piece ? 1 : 0;
      counted[part.Owner] = true;
    }
  }
  return count;
}

}  // namespace patchio
