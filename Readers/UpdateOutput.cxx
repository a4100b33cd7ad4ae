#include "UpdateOutput.h"

#include "PointGrids.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace patchio {
namespace {

/// What each rank tells the others about the lists of points in its blocks. For each level: the number of
/// points, and the lower and upper corner of the box around them.
constexpr int NumbersOfLevel = 7;

std::vector<int> ListsOfRank(LoadedStep& loaded)
{
  const Catalog& catalog = loaded.Data();
  const StepPlan& plan = loaded.Plan;
  std::vector<int> numbers(NumbersOfLevel * catalog.Levels.size(), 0);
  for (std::size_t i = 0; i < plan.Mine.size(); ++i) {
    const int level = plan.Blocks[plan.Mine[i]].Level;
    for (std::size_t v = 0; v < loaded.Variables().size(); ++v) {
      const LoadedArray& array = loaded.Array(i, v);
      if (catalog.RoleOf(level) != LevelRole::Points ||
          loaded.Variables()[v].Variable != catalog.PositionsOf(level) || array.Status != ArrayStatus::Read) {
        continue;
      }
      int* const ofLevel = numbers.data() + NumbersOfLevel * level;
      const Box bounds =
          PointPlaces(catalog, array, catalog.Variables[catalog.PositionsOf(level)].Name).Bounds();
      for (int axis = 0; axis < 3; ++axis) {
        int& lower = ofLevel[1 + axis];
        int& upper = ofLevel[4 + axis];
        lower = ofLevel[0] == 0 ? bounds.Lower[axis] : std::min(lower, bounds.Lower[axis]);
        upper = ofLevel[0] == 0 ? bounds.Upper[axis] : std::max(upper, bounds.Upper[axis]);
      }
      ofLevel[0] += static_cast<int>(array.Tuples);
    }
  }
  return numbers;
}

/// True when some block of any rank may have cells that are not visible.
bool HidesCells(const LoadedStep& loaded)
{
  const StepOptions& wanted = loaded.Options;
  const StepPlan& plan = loaded.Plan;
  if (wanted.Ghosts != Int3{0, 0, 0} || AddsGhostLayer(loaded.Data(), wanted)) {
    return true;
  }
  std::set<int> levels;
  for (const Block& block : plan.Blocks) {
    if (!block.Full || std::any_of(block.Parts.begin(), block.Parts.end(),
                           [&](const OwnedBox& part) { return plan.Nests->LosesCells(part.Owner); })) {
      return true;
    }
    if (loaded.Data().RoleOf(block.Level) == LevelRole::Refinement) {
      levels.insert(block.Level);
    }
  }
  return wanted.HideRefined && levels.size() > 1;
}

AssemblyOptions OptionsOfAssembly(const LoadedStep& loaded, int rank, bool pointsAsImages)
{
  const StepOptions& wanted = loaded.Options;
  AssemblyOptions options;
  options.BlankRefined = wanted.HideRefined;
  options.PatchIds = wanted.PatchIds;
  options.Vectors = wanted.Vectors;
  options.PointsAsImage = pointsAsImages;
  options.HideUndefined = wanted.HideUndefined && loaded.HasUndefined;
  options.Sphere = wanted.Sphere;
  options.GhostLayer = AddsGhostLayer(loaded.Data(), wanted);
  options.Rank = rank;
  options.HidesCells = HidesCells(loaded);
  options.Blanks = loaded.Blanks;
  return options;
}

/// Puts the blocks of this piece into the tree. frames: one for each block; missing ones are made.
void AddBlocks(LoadedStep& loaded, PatchAssembler& assembler, std::vector<BlockFrame>& frames,
    vtkMultiBlockDataSet* output)
{
  const StepPlan& plan = loaded.Plan;
  std::vector<LoadedArray*> arrays(loaded.Variables().size());
  for (std::size_t i = 0; i < plan.Mine.size(); ++i) {
    const Block& block = plan.Blocks[plan.Mine[i]];
    if (!loaded.Patches.Flags()[block.Parts[0].Owner]) {
      continue;
    }
    for (std::size_t v = 0; v < arrays.size(); ++v) {
      arrays[v] = &loaded.Array(i, v);
    }
    if (!frames[i].Grid) {
      frames[i] = assembler.MakeFrame(block, arrays);
    }
    assembler.AddBlock(output, plan.Blocks, plan.Mine[i], frames[i], arrays);
  }
}

}  // namespace

void KeptFrames::KeepFor(const std::string& key)
{
  if (key.empty() || key != this->Key) {
    *this = KeptFrames();
  }
}

bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept)
{
  // An image takes memory for each cell of each array, and is filled again at each step.
  constexpr std::int64_t cellsOfPoint = 4;
  constexpr std::int64_t fewCells = 1 << 20;
  const PointForm wanted = loaded.Options.PointLists;
  const std::vector<Level>& levels = loaded.Data().Levels;
  if (wanted != PointForm::Automatic || std::none_of(levels.begin(), levels.end(), [](const Level& level) {
        return level.Role == LevelRole::Points;
      })) {
    return wanted == PointForm::Image;
  }
  RunOnAllRanks(ranks, [&] {
    const bool known = !kept.Key.empty() && kept.Key == loaded.GridsKey();
    kept.Points = known ? kept.Points : ListsOfRank(loaded);
  });
  const std::vector<int> all = ranks.AllGather(kept.Points);
  std::int64_t points = 0, cells = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    Box around{loaded.Data().Lattice.Upper, loaded.Data().Lattice.Lower};
    std::int64_t ofLevel = 0;
    for (std::size_t i = NumbersOfLevel * level; i < all.size(); i += NumbersOfLevel * levels.size()) {
      for (int axis = 0; axis < 3 && all[i] > 0; ++axis) {
        around.Lower[axis] = std::min(around.Lower[axis], all[i + 1 + axis]);
        around.Upper[axis] = std::max(around.Upper[axis], all[i + 4 + axis]);
      }
      ofLevel += all[i];
    }
    points += ofLevel;
    cells += ofLevel > 0 ? around.Cells() : 0;
  }
  return cells <= std::max(cellsOfPoint * points, fewCells);
}

void AssembleOutput(
    LoadedStep& loaded, int rank, bool pointsAsImages, KeptFrames& kept, vtkMultiBlockDataSet* output)
{
  const Stopwatch watch;
  const StepOptions& wanted = loaded.Options;
  const StepPlan& plan = loaded.Plan;
  PatchAssembler assembler(loaded.Data(), *plan.Nests, loaded.Variables(), wanted.Ghosts,
      OptionsOfAssembly(loaded, rank, pointsAsImages), loaded.Memory());
  assembler.BuildTree(output, plan.Blocks, wanted.FirstLevel, wanted.LastLevel);
  kept.KeepFor(plan.GridsKey);
  std::vector<BlockFrame> frames = std::move(kept.Frames);
  std::vector<int> points = std::move(kept.Points);
  kept = KeptFrames();  // in case of an exception
  frames.resize(plan.Mine.size());
  AddBlocks(loaded, assembler, frames, output);
  if (!plan.GridsKey.empty()) {
    kept.Key = plan.GridsKey;
    kept.Frames = std::move(frames);
    kept.Points = std::move(points);
  }
  loaded.ReportAssembly(watch.Seconds());
}

}  // namespace patchio
