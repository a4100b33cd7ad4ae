#include "DataSet.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Stopwatch.h"
#include "Plan/Partition.h"
#include "Read/CollectiveCalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchio {
namespace {

constexpr int MaximumThreads = 256;

// Flags of vtkDataSetAttributes. A refined cell is also a duplicate, as in the flags of the ParaView reader,
// because some filters support only duplicates.
constexpr std::uint8_t Duplicate = 1, Refined = 8 | Duplicate, Hidden = 32;

/// Returns one flag per patch of the catalog: true for the patches in `patches`.
std::vector<bool> PatchFlags(const Catalog& catalog, const std::vector<int>& patches)
{
  std::vector<bool> flags(catalog.Patches.size(), false);
  for (const int patch : patches) {
    flags[patch] = true;
  }
  return flags;
}

std::vector<Block> BlocksOfForm(const Catalog& catalog, const std::vector<int>& patches,
    const Nesting& nesting, const std::vector<int>& variables, BlockForm form)
{
  if (form == BlockForm::Patches) {
    return BlocksOfPatches(catalog, patches);
  }
  BlockOptions options;
  options.Merge = true;
  if (form != BlockForm::Fewest) {  // VTK's contour filter draws hidden cells of images
    options.Cover.BoxCostInCells = 0;
  }
  return MakeBlocks(catalog, PatchFlags(catalog, patches), PatchTypes(catalog, variables), nesting,
      form != BlockForm::Filled, options);
}

/// Sets `flags`, which has one entry per cell of `grid`, to `flag` for the cells of `part` whose entry in
/// `marks` is not 0. `marks` has one entry per cell of `part`. Does nothing if `marks` is empty.
void MarkCells(const Box& grid, const Box& part, const std::vector<std::uint8_t>& marks, std::uint8_t flag,
    std::uint8_t* flags)
{
  const std::uint8_t* from = marks.data();
  for (int k = part.Lower[2]; k <= part.Upper[2] && !marks.empty(); ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      std::uint8_t* const to = flags + IndexIn(grid, {part.Lower[0], j, k});
      for (std::int64_t i = 0; i < part.Width(0); ++i, ++from) {
        to[i] = *from ? flag : to[i];
      }
    }
  }
}

}  // namespace

BlockPlan::BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches,
    const std::vector<bool>& shown, const std::vector<int>& variables, BlockForm form)
    : SharedCatalog(std::move(catalog)),
      PatchNesting(*this->SharedCatalog, shown),
      PlannedBlocks(BlocksOfForm(*this->SharedCatalog, patches, this->PatchNesting, variables, form))
{
}

BlockPlan::BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches, const Box& box)
    : SharedCatalog(std::move(catalog)),
      PatchNesting(*this->SharedCatalog, PatchFlags(*this->SharedCatalog, patches))
{
  Block whole;
  whole.Level = patches.empty() ? 0 : this->SharedCatalog->Patches[patches[0]].Level;
  for (const int patch : patches) {
    whole.Parts.push_back({this->SharedCatalog->Patches[patch].Cells, patch});
  }
  this->PlannedBlocks = CutToBoxes(whole, {box}, this->PatchNesting);
}

std::vector<std::uint8_t> BlockPlan::Flags(std::size_t number) const
{
  const Block& block = this->PlannedBlocks[number];
  std::vector<std::uint8_t> flags(block.Cells.CellCount(), block.Full ? 0 : Hidden);
  for (const OwnedBox& part : block.Parts) {
    if (!block.Full) {
      MarkBox(block.Cells, part.Cells, 0, flags.data());
    }
    if (part.Cells == this->SharedCatalog->Patches[part.Owner].Cells) {
      const std::vector<std::uint8_t> elsewhere = this->PatchNesting.CellsShownElsewhere(part.Owner);
      MarkCells(block.Cells, part.Cells, elsewhere, Duplicate, flags.data());
    }
    const std::vector<std::uint8_t> covered = this->PatchNesting.CoveredCells(part.Owner, part.Cells);
    MarkCells(block.Cells, part.Cells, covered, Refined, flags.data());
  }
  const bool visible = std::all_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag == 0; });
  return visible ? std::vector<std::uint8_t>() : flags;
}

Step::Step(std::shared_ptr<OpenedStep> opened, TimeStep entry, double openSeconds,
    std::shared_ptr<ReaderState> state)
    : Opened(std::move(opened)), Entry(std::move(entry)), OpenSeconds(openSeconds), State(std::move(state))
{
}

void Step::CheckPatches(const std::vector<int>& patches) const
{
  const int count = static_cast<int>(this->Data().Patches.size());
  for (const int patch : patches) {
    if (patch < 0 || patch >= count) {
      throw Error(fmt::format(
          "{} has no patch {}. It has {} patches, numbered from 0.", this->Entry.Path, patch, count));
    }
  }
}

void Step::CheckVariable(int variable) const
{
  const int variables = static_cast<int>(this->Data().Variables.size());
  if (variable < 0 || variable >= variables) {
    throw Error(fmt::format("{} has no variable number {}.", this->Entry.Path, variable));
  }
}

std::vector<Block> Step::BlocksOf(const std::vector<int>& patches) const
{
  this->CheckPatches(patches);
  return BlocksOfPatches(this->Data(), patches);
}

LoadRequest Step::RequestOf(const ReadOptions& options) const
{
  LoadRequest request;
  request.Blocks = options.Blocks;
  for (const int variable : options.Variables) {
    this->CheckVariable(variable);
    VariableRequest& variableRequest =
        request.Variables.emplace_back(RequestAsStored(this->Data(), variable));
    variableRequest.Ghosts = options.Ghosts ? variableRequest.Ghosts : Int3{0, 0, 0};
  }
  request.StopAtFault = options.StopAtFault;
  request.Verify = options.Verify;
  request.Memory = this->State->Memory;
  return request;
}

void Step::ChooseThreads(LoadRequest& request, int threads)
{
  if (threads > 0) {
    request.Threads = threads;
    return;
  }
  AutomaticThreads& automatic = this->State->Threads;
  automatic.Begin(*this->State->SelfCommunicator, this->Entry.Path, ThreadPolicy::Balanced,
      ThreadsThatFit(MaximumThreads));
  request.Control = &automatic.Control();
  request.Threads = request.Control->Threads();
  request.Storage = automatic.Choice().CostOfRequest.value_or(request.Storage);
}

LoadResult Step::Load(const LoadRequest& request, const ReadProgressCallback& progress)
{
  const auto locate = [&](const std::vector<PatchVariable>& arrays) {
    return this->Opened->Locate(arrays, request.Threads, {}, request.Verify);
  };
  RankRead loader(locate, this->Opened->SharedData(), std::make_shared<const LoadRequest>(request));
  CheckMemoryOfMachines(*this->State->SelfCommunicator, loader.BytesNeeded());
  return loader.Read(progress);
}

LoadResult Step::Read(const ReadOptions& options, const ReadProgressCallback& progress)
{
  const Stopwatch watch;
  this->Opened->SetStep(*this->State->SelfCommunicator, this->Entry);
  LoadRequest request = this->RequestOf(options);
  this->ChooseThreads(request, options.Threads);
  this->Opened->Prepare(*this->State->SelfCommunicator, request.Threads);
  const double prepareSeconds = watch.Seconds();
  LoadResult loaded;
  const std::string fault = CatchError([&] { loaded = this->Load(request, progress); });
  if (request.Control) {
    this->State->Threads.End();
    loaded.Report.ThreadsText = this->State->Threads.Text();
    const std::vector<std::string>& notes = this->State->Threads.Notes();
    loaded.Report.Notes.insert(loaded.Report.Notes.end(), notes.begin(), notes.end());
  }
  ThrowFault(fault);
  loaded.Report.OpenSeconds = std::exchange(this->OpenSeconds, 0);
  loaded.Report.LocateSeconds += prepareSeconds;
  loaded.Report.Metadata = this->Opened->Origin();
  return loaded;
}

LocationTable Step::Locate(int variable, const std::vector<int>& patches)
{
  this->CheckVariable(variable);
  this->CheckPatches(patches);
  std::vector<PatchVariable> arrays;
  for (const int patch : patches) {
    arrays.push_back({patch, variable});
  }
  this->Opened->SetStep(*this->State->SelfCommunicator, this->Entry);
  this->Opened->Prepare(*this->State->SelfCommunicator, ThreadsThatFit(MaximumThreads));
  return this->Opened->Locate(arrays, ThreadsThatFit(MaximumThreads));
}

std::optional<ElementType> Step::TypeOfVariable(int variable)
{
  this->CheckVariable(variable);
  this->Opened->SetStep(*this->State->SelfCommunicator, this->Entry);
  bool constant = false;
  for (int p = 0; p < static_cast<int>(this->Data().Patches.size()); ++p) {
    const Presence presence = this->Data().PresenceOf(variable, p);
    constant = constant || presence == Presence::Zero || presence == Presence::One;
    if (presence == Presence::Stored) {
      const LocationTable table = this->Opened->Locate({{p, variable}}, 1);
      if (!table.Problems.empty()) {
        throw Error(table.Problems[0].Message);
      }
      return TypeOf(table, table.Locations[0]);
    }
  }
  return constant ? std::optional<ElementType>(ElementType::Float32) : std::nullopt;
}

std::vector<std::uint8_t> Step::CoveredCells(int patch)
{
  this->CheckPatches({patch});
  if (!this->PatchNesting) {
    this->PatchNesting =
        std::make_unique<Nesting>(this->Data(), std::vector<bool>(this->Data().Patches.size(), true));
  }
  return this->PatchNesting->CellsShownElsewhere(patch);
}

BlockPlan Step::PlanBlocks(const std::vector<int>& patches, const std::vector<bool>& levels,
    const std::vector<int>& variables, BlockForm form) const
{
  this->CheckPatches(patches);
  std::for_each(variables.begin(), variables.end(), [this](int v) { this->CheckVariable(v); });
  std::vector<bool> shown;
  for (const Patch& patch : this->Data().Patches) {
    shown.push_back(levels.at(patch.Level));
  }
  return BlockPlan(this->Opened->SharedData(), patches, shown, variables, form);
}

BlockPlan Step::PlanBox(const std::vector<int>& patches, const Box& box) const
{
  this->CheckPatches(patches);
  return BlockPlan(this->Opened->SharedData(), patches, box);
}

std::vector<int> Step::PatchesOfPart(int part, int parts) const
{
  if (parts < 1 || part < 0 || part >= parts) {
    throw Error(fmt::format("Part {} of {} is invalid. Parts are numbered from 0.", part, parts));
  }
  const Catalog& catalog = this->Data();
  std::vector<int> patches(catalog.Patches.size());
  std::iota(patches.begin(), patches.end(), 0);
  std::vector<std::int64_t> weights(patches.size(), 0);
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (const int p : patches) {
      weights[p] += catalog.PresenceOf(v, p) == Presence::Stored
                        ? catalog.StoredTuples(v, p) * catalog.Variables[v].Components
                        : 0;
    }
  }
  const std::vector<int> partOfPatch = PartitionPatches(catalog, patches, weights, parts);
  patches.erase(std::remove_if(patches.begin(), patches.end(), [&](int p) { return partOfPatch[p] != part; }),
      patches.end());
  return patches;
}

DataSet::DataSet(const std::vector<std::string>& paths, IndexMode mode, bool listedOnly) : Mode(mode)
{
  if (paths.empty()) {
    throw Error("The list of paths is empty.");
  }
  this->AllSteps = OpenSeries(*this->State->SelfCommunicator, paths, {listedOnly}, mode);
  this->Name = FormatOf(paths[0]).Name();
}

std::shared_ptr<Step> DataSet::Open(std::size_t step)
{
  const TimeStep& entry = this->AllSteps.Steps[step];
  const Stopwatch watch;
  std::shared_ptr<OpenedStep> opened = this->LastOpened;
  if (!opened || this->LastPath != entry.Path) {
    opened = std::make_shared<OpenedStep>(*this->State->SelfCommunicator, entry.Path, this->Mode);
    this->LastOpened = opened->Data().StepsInFile > 1 && !opened->Data().PatchesChange ? opened : nullptr;
    this->LastPath = entry.Path;
  }
  opened->SetStep(*this->State->SelfCommunicator, entry);
  return std::make_shared<Step>(std::move(opened), entry, watch.Seconds(), this->State);
}

}  // namespace patchio
