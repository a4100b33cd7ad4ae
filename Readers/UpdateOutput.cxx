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

constexpr const char* NoSliceMessage =
    "Slice While Reading has no effect on meshes, lists of points and grids on a sphere. "
    "Use the filter Slice instead";

constexpr std::size_t NumbersOfBox = 6;

/// Returns the sizes of the lists of points in the blocks of this rank.
PointLists PointListsOfRank(LoadedStep& loaded)
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
          loaded.Variables()[v].Variable != catalog.PositionsVariable(level) ||
          array.Status != ArrayStatus::Read) {
        continue;
      }
      double* const corners = lists.Corners.data() + NumbersOfBox * level;
      const Box bounds =
          PointCells(catalog, array, catalog.Variables[catalog.PositionsVariable(level)].Name).Bounds();
      for (int axis = 0; axis < 3; ++axis) {
        corners[axis] = std::max(corners[axis], -double(bounds.Lower[axis]));
        corners[3 + axis] = std::max(corners[3 + axis], double(bounds.Upper[axis]));
      }
      lists.Points[level] += static_cast<double>(array.Tuples);
    }
  }
  return lists;
}

/// Returns the grid of the block with the index `number` in StepPlan::LocalBlocks; null if the patch of the
/// block is not shown. Makes `frame` if frame.Grid is null.
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

/// Returns the grids of all blocks in StepPlan::LocalBlocks. `frames`: the frame of each block. Throws Error.
std::vector<vtkSmartPointer<vtkDataSet>> MakeBlocks(
    LoadedStep& loaded, int threads, PatchAssembler& assembler, std::vector<BlockFrame>& frames)
{
  // A small block takes a few microseconds, which is less than the overhead of a task.
  const std::size_t blocksOfTask = std::clamp<std::size_t>(frames.size() / (16 * threads), 1, 256);
  std::vector<vtkSmartPointer<vtkDataSet>> grids(frames.size());
  const std::size_t tasks = (frames.size() + blocksOfTask - 1) / blocksOfTask;
  RunTasksOrThrow(tasks, threads, [&](std::size_t task) {
    const std::size_t first = task * blocksOfTask;
    for (std::size_t i = first; i < std::min(first + blocksOfTask, grids.size()); ++i) {
      grids[i] = MakeBlock(loaded, i, assembler, frames[i]);
    }
  });
  return grids;
}

/// Adds `grids`, the grids of the blocks in StepPlan::LocalBlocks, to the tree `output`.
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

void FrameCache::DiscardUnlessKey(const std::string& key)
{
  if (key.empty() || key != this->Key) {
    *this = FrameCache();
  }
}

bool DecidePointImages(Communicator& ranks, LoadedStep& loaded, FrameCache& cache)
{
  // An image needs memory for each cell of each array, and is filled again at each step.
  constexpr double cellsOfPoint = 4;
  constexpr double fewCells = 1 << 20;
  const PointForm form = loaded.Options.PointLists;
  const std::vector<Level>& levels = loaded.Data().Levels;
  if (form != PointForm::Automatic || std::none_of(levels.begin(), levels.end(), [](const Level& level) {
        return level.Role == LevelRole::Points;
      })) {
    return form == PointForm::Image;
  }
  RunOnAllRanks(ranks, [&] {
    const bool known = !cache.Key.empty() && cache.Key == loaded.GridsKey();
    cache.Lists = known ? cache.Lists : PointListsOfRank(loaded);
  });
  const std::vector<double> pointsOfLevels = ranks.Sum(cache.Lists.Points);
  const std::vector<double> corners = ranks.Max(cache.Lists.Corners);
  double points = 0, cells = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double* const box = corners.data() + NumbersOfBox * level;
    double cellsAround = pointsOfLevels[level] > 0 ? 1 : 0;
    for (int axis = 0; axis < 3; ++axis) {
      cellsAround *= box[axis] + box[3 + axis] + 1;
    }
    points += pointsOfLevels[level];
    cells += cellsAround;
  }
  return cells <= std::max(cellsOfPoint * points, fewCells);
}

void AssembleOutput(
    LoadedStep& loaded, int rank, int threads, bool pointsAsImages, FrameCache& cache, vtkDataObject* output)
{
  const Stopwatch watch;
  const StepOptions& stepOptions = loaded.Options;
  const StepPlan& plan = loaded.Plan;
  PatchAssembler assembler(loaded, rank, pointsAsImages);
  // Overlapping AMR uses the grids of a tree.
  auto* const amr = vtkOverlappingAMR::SafeDownCast(output);
  const auto tree = amr ? vtkSmartPointer<vtkMultiBlockDataSet>::New()
                        : vtkSmartPointer<vtkMultiBlockDataSet>(vtkMultiBlockDataSet::SafeDownCast(output));
  assembler.BuildTree(tree, plan.Blocks, stepOptions.FirstLevel, stepOptions.LastLevel);
  PointLists lists = std::move(cache.Lists);  // DecidePointImages() has set these lists for this step
  cache.DiscardUnlessKey(plan.GridsKey);
  std::vector<BlockFrame> frames = std::move(cache.Frames);
  cache = FrameCache();  // so that the cache is empty after an exception
  frames.resize(plan.LocalBlocks.size());
  FillTree(plan, MakeBlocks(loaded, threads, assembler, frames), tree);
  if (amr && AmrUnsupportedReason(loaded.Data()).empty()) {
    FillAmr(loaded, tree, amr);
  }
  if (!plan.GridsKey.empty()) {
    cache.Key = plan.GridsKey;
    cache.Frames = std::move(frames);
    cache.Lists = std::move(lists);
  }
  loaded.ReportAssembly(watch.Seconds());
}

bool DecideSurfaceFirst(LoadedStep& loaded)
{
  constexpr double longest = 5;
  const double blocks = loaded.Plan.Sliced ? 0 : static_cast<double>(loaded.Plan.LocalBlocks.size());
  const double cells = blocks * loaded.MeanCellsPerBlock();
  // The estimate is the time for a surface and its image: by vtkPatchViewGeometryFilter (measured by `./dev
  // bench extract`) or, for blocks that this filter does not support, by VTK 9.2.
  const bool isFast = loaded.Data().Dimension == 3 && loaded.Data().KnowsPositions();
  const double seconds = isFast ? blocks * 1e-4 + cells * 3e-8 : blocks * 2.5e-3 + cells * 1e-7;
  if (seconds <= longest) {
    return true;
  }
  std::ostringstream note;
  note << "ParaView shows an outline first, because a surface of " << blocks << " blocks with "
       << std::llround(cells) << " cells per rank takes about " << std::llround(seconds)
       << " s. To see the data, select the representation Surface or apply Slice";
  loaded.Report().Notes.push_back(note.str());
  return false;
}

std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output)
{
  const Stopwatch watch;
  const filters::Blocks blocks = filters::MakeBlocks(output, ranks);
  if (!AllOf(ranks, loaded.Plan.Sliced && blocks.UnsupportedClass.empty())) {
    loaded.Report().Notes.emplace_back(NoSliceMessage);
    return NoSliceMessage;
  }
  vtkNew<vtkPlane> plane;
  plane->SetOrigin(loaded.Options.Region.Origin.data());
  plane->SetNormal(loaded.Options.Region.Normal.data());
  filters::SliceRequest request;
  request.Triangles = false;
  if (const auto surface = filters::Surface::FromFunction(plane, 0)) {
    request.Surfaces.push_back(*surface);
  }
  const auto slices = filters::Slice(blocks, request, ranks);
  RunOnAllRanks(ranks, [&] {
    std::uint64_t kilobytes = 0;
    for (unsigned int level = 0; level < slices.size(); ++level) {
      kilobytes += slices[level]->GetActualMemorySize();
      output->SetBlock(level, slices[level]);
    }
    loaded.Memory().CheckAvailable(1024 * kilobytes);
  });
  loaded.Report().AssembleSeconds += watch.Seconds();
  return {};
}

}  // namespace patchio
