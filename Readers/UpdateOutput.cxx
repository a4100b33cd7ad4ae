#include "UpdateOutput.h"

#include "Support/Stopwatch.h"

#include <utility>

namespace patchio {
namespace {

AssemblyOptions OptionsOfAssembly(const PatchUpdate& update, int rank)
{
  const UpdateOptions& wanted = update.Wanted();
  AssemblyOptions options;
  options.BlankRefined = wanted.HideRefined;
  options.PatchIds = wanted.PatchIds;
  options.PointsAsImage = wanted.PointsAsImage;
  options.HideUndefined = wanted.HideUndefined;
  options.Sphere = wanted.Sphere;
  options.GhostLayer = AddsGhostLayer(update.Data(), wanted);
  options.Rank = rank;
  return options;
}

/// Puts the blocks of this piece into the tree; `frames` has one for each, which are made where they are
/// missing.
void AddBlocks(PatchUpdate& update, const PatchAssembler& assembler, std::vector<BlockFrame>& frames,
    vtkMultiBlockDataSet* output)
{
  const UpdatePlan& plan = update.Planned();
  std::vector<LoadedArray*> arrays(update.Variables().size());
  for (std::size_t i = 0; i < plan.Mine.size(); ++i) {
    const Block& block = plan.Blocks[plan.Mine[i]];
    if (!update.Patches().Flags()[block.Parts[0].Owner]) {
      continue;
    }
    for (std::size_t v = 0; v < arrays.size(); ++v) {
      arrays[v] = &update.Array(i, v);
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

void AssembleOutput(PatchUpdate& update, int rank, KeptFrames& kept, vtkMultiBlockDataSet* output)
{
  const Stopwatch watch;
  const UpdateOptions& wanted = update.Wanted();
  const UpdatePlan& plan = update.Planned();
  const PatchAssembler assembler(
      update.Data(), *plan.Nests, update.Variables(), wanted.Ghosts, OptionsOfAssembly(update, rank));
  assembler.BuildTree(output, plan.Blocks, wanted.FirstLevel, wanted.LastLevel);
  kept.KeepFor(plan.FramesKey);
  std::vector<BlockFrame> frames = std::move(kept.Frames);
  kept = KeptFrames();  // should something be thrown
  frames.resize(plan.Mine.size());
  AddBlocks(update, assembler, frames, output);
  if (!plan.FramesKey.empty()) {
    kept.Key = plan.FramesKey;
    kept.Frames = std::move(frames);
  }
  update.ReportAssembly(watch.Seconds());
}

}  // namespace patchio
