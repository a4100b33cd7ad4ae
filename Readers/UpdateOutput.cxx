#include "UpdateOutput.h"

#include "AmrOutput.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Filters/Slice.h"
#include "Io/IoScheduler.h"
#include "MeshGrids.h"

#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkOverlappingAMR.h>
#include <vtkPlane.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace patchio {
namespace {

constexpr const char* NoSlice =
    "Slice While Reading has no effect on meshes, lists of points and grids on a sphere. "
    "Use the filter Slice instead";

constexpr std::size_t NumbersOfBox = 6;

PointLists ListsOfRank(LoadedStep& loaded)
{
  const Catalog& catalog = loaded.Data();
  const StepPlan& plan = loaded.Plan;
  const std::size_t levels = catalog.Levels.size();
  PointLists lists{std::vector<double>(levels, 0),
      std::vector<double>(NumbersOfBox * levels, std::numeric_limits<int>::min())};
  for (std::size_t i = 0; i < plan.LocalBlocks.size(); ++i) {
    const int level = plan.Blocks[plan.LocalBlocks[i]].Level;
    for (std::size_t v = 0; v < loaded.Variables().size(); ++v) {
      const LoadedArray& array = loaded.Array(i, v);
      if (catalog.RoleOf(level) != LevelRole::Points ||
          loaded.Variables()[v].Variable != catalog.PositionsOf(level) || array.Status != ArrayStatus::Read) {
        continue;
      }
      double* const corners = lists.Corners.data() + NumbersOfBox * level;
      const Box bounds =
          PointPlaces(catalog, array, catalog.Variables[catalog.PositionsOf(level)].Name).Bounds();
      for (int axis = 0; axis < 3; ++axis) {
        corners[axis] = std::max(corners[axis], -double(bounds.Lower[axis]));
        corners[3 + axis] = std::max(corners[3 + axis], double(bounds.Upper[axis]));
      }
      lists.Points[level] += static_cast<double>(array.Tuples);
    }
  }
  return lists;
}

/// Returns whether some block of any rank may have hidden cells.
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

/// Returns the grid of a block of this piece; null if the block's patch is not shown. Makes the block's frame
/// if it is missing.
vtkSmartPointer<vtkDataSet> MakeBlock(
    LoadedStep& loaded, std::size_t number, PatchAssembler& assembler, BlockFrame& frame)
{
  const Block& block = loaded.Plan.Blocks[loaded.Plan.LocalBlocks[number]];
  if (!loaded.Patches.Flags()[block.Parts[0].Owner]) {
    return nullptr;
  }
  std::vector<LoadedArray*> arrays(loaded.Variables().size());
  for (std::size_t v = 0; v < arrays.size(); ++v) {
    arrays[v] = &loaded.Array(number, v);
  }
  if (!frame.Grid) {
    frame = assembler.MakeFrame(block, arrays);
  }
  return assembler.MakeBlock(block, frame, arrays);
}

/// Returns the grids of all blocks of this piece. frames: one for each block. Throws Error.
std::vector<vtkSmartPointer<vtkDataSet>> MakeBlocks(
    LoadedStep& loaded, int threads, PatchAssembler& assembler, std::vector<BlockFrame>& frames)
{
  // A small block takes some microseconds, less than the overhead of a task.
  const std::size_t blocksOfTask = std::clamp<std::size_t>(frames.size() / (16 * threads), 1, 256);
  std::vector<vtkSmartPointer<vtkDataSet>> grids(frames.size());
  std::vector<std::string> faults((frames.size() + blocksOfTask - 1) / blocksOfTask);
  RunTasks(faults.size(), threads, [&](std::size_t task) {
    const std::size_t first = task * blocksOfTask;
    faults[task] = CatchError([&] {
      for (std::size_t i = first; i < std::min(first + blocksOfTask, grids.size()); ++i) {
        grids[i] = MakeBlock(loaded, i, assembler, frames[i]);
      }
    });
  });
  for (const std::string& fault : faults) {
    if (!fault.empty()) {
      throw Error(fault);
    }
  }
  return grids;
}

/// Puts the grids of this piece's blocks into the tree.
void FillTree(
    const StepPlan& plan, const std::vector<vtkSmartPointer<vtkDataSet>>& grids, vtkMultiBlockDataSet* output)
{
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const Block& block = plan.Blocks[plan.LocalBlocks[i]];
    const auto first = std::partition_point(plan.Blocks.begin(), plan.Blocks.end(),
        [&](const Block& other) { return other.Level < block.Level; });
    auto* const pieces = vtkMultiPieceDataSet::SafeDownCast(output->GetBlock(block.Level));
    pieces->SetPiece(static_cast<unsigned int>(&block - &*first), grids[i]);
  }
}

}  // namespace

void KeptFrames::DiscardUnlessKey(const std::string& key)
{
  if (key.empty() || key != this->Key) {
    *this = KeptFrames();
  }
}

bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept)
{
  // An image takes memory for each cell of each array, and is filled again at each step.
  constexpr double cellsOfPoint = 4;
  constexpr double fewCells = 1 << 20;
  const PointForm wanted = loaded.Options.PointLists;
  const std::vector<Level>& levels = loaded.Data().Levels;
  if (wanted != PointForm::Automatic || std::none_of(levels.begin(), levels.end(), [](const Level& level) {
        return level.Role == LevelRole::Points;
      })) {
    return wanted == PointForm::Image;
  }
  RunOnAllRanks(ranks, [&] {
    const bool known = !kept.Key.empty() && kept.Key == loaded.GridsKey();
    kept.Lists = known ? kept.Lists : ListsOfRank(loaded);
  });
  const std::vector<double> ofLevels = ranks.Sum(kept.Lists.Points);
  const std::vector<double> corners = ranks.Largest(kept.Lists.Corners);
  double points = 0, cells = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double* const box = corners.data() + NumbersOfBox * level;
    double around = ofLevels[level] > 0 ? 1 : 0;
    for (int axis = 0; axis < 3; ++axis) {
      around *= box[axis] + box[3 + axis] + 1;
    }
    points += ofLevels[level];
    cells += around;
  }
  return cells <= std::max(cellsOfPoint * points, fewCells);
}

void AssembleOutput(
    LoadedStep& loaded, int rank, int threads, bool pointsAsImages, KeptFrames& kept, vtkDataObject* output)
{
  const Stopwatch watch;
  const StepOptions& wanted = loaded.Options;
  const StepPlan& plan = loaded.Plan;
  PatchAssembler assembler(loaded.Data(), *plan.Nests, loaded.Variables(), wanted.Ghosts,
      OptionsOfAssembly(loaded, rank, pointsAsImages), loaded.Memory());
  // Overlapping AMR uses the grids of a tree.
  auto* const amr = vtkOverlappingAMR::SafeDownCast(output);
  const auto tree = amr ? vtkSmartPointer<vtkMultiBlockDataSet>::New()
                        : vtkSmartPointer<vtkMultiBlockDataSet>(vtkMultiBlockDataSet::SafeDownCast(output));
  assembler.BuildTree(tree, plan.Blocks, wanted.FirstLevel, wanted.LastLevel);
  PointLists lists = std::move(kept.Lists);  // of this step
  kept.DiscardUnlessKey(plan.GridsKey);
  std::vector<BlockFrame> frames = std::move(kept.Frames);
  kept = KeptFrames();  // in case of an exception
  frames.resize(plan.LocalBlocks.size());
  FillTree(plan, MakeBlocks(loaded, threads, assembler, frames), tree);
  if (amr && WhyNotAmr(loaded.Data()).empty()) {
    FillAmr(loaded, tree, amr);
  }
  if (!plan.GridsKey.empty()) {
    kept.Key = plan.GridsKey;
    kept.Frames = std::move(frames);
    kept.Lists = std::move(lists);
  }
  loaded.ReportAssembly(watch.Seconds());
}

bool ShowSurfaceFirst(LoadedStep& loaded)
{
  constexpr double longest = 5;
  const double blocks = loaded.Plan.Sliced ? 0 : static_cast<double>(loaded.Plan.LocalBlocks.size());
  const double cells = blocks * loaded.CellsOfBlock();
  // The time that Extract (`./dev bench extract`), or VTK 9.2 where Extract cannot work, takes for a surface
  // and its image.
  const bool byExtract = loaded.Data().Dimension == 3 && loaded.Data().HasPlacedBoxes();
  const double seconds = byExtract ? blocks * 1e-4 + cells * 3e-8 : blocks * 2.5e-3 + cells * 1e-7;
  if (seconds <= longest) {
    return true;
  }
  std::ostringstream why;
  why << "ParaView shows an outline first, because a surface of " << blocks << " blocks with "
      << std::llround(cells) << " cells per rank takes about " << std::llround(seconds)
      << " s. To see the data, select the representation Surface or apply Slice";
  loaded.Report().Notes.push_back(why.str());
  return false;
}

std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output)
{
  const Stopwatch watch;
  filters::Blocks blocks;
  RunOnAllRanks(ranks, [&] { blocks = filters::MakeBlocks(output); });
  if (!AllOf(ranks, loaded.Plan.Sliced && blocks.UnsupportedReason.empty())) {
    loaded.Report().Notes.emplace_back(NoSlice);
    return NoSlice;
  }
  vtkNew<vtkPlane> plane;
  plane->SetOrigin(loaded.Options.Region.Origin.data());
  plane->SetNormal(loaded.Options.Region.Normal.data());
  filters::SliceRequest request;
  request.Triangles = false;
  if (const auto surface = filters::Surface::Make(plane, 0)) {
    request.Surfaces.push_back(*surface);
  }
  const auto pieces = filters::Slice(blocks, request, ranks);
  RunOnAllRanks(ranks, [&] {
    std::uint64_t kilobytes = 0;
    for (unsigned int level = 0; level < pieces.size(); ++level) {
      kilobytes += pieces[level]->GetActualMemorySize();
      output->SetBlock(level, pieces[level]);
    }
    loaded.Memory().Check(1024 * kilobytes);
  });
  loaded.Report().AssembleSeconds += watch.Seconds();
  return {};
}

}  // namespace patchio
