#include "Read/StepRead.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Stopwatch.h"
#include "Io/Progress.h"
#include "Read/CollectiveCalls.h"
#include "Tuning/ReadControl.h"

#include <algorithm>
#include <utility>

namespace patchio {
namespace {

std::vector<int> NumbersOf(const std::vector<VariableRequest>& variables)
{
  std::vector<int> numbers;
  for (const VariableRequest& wanted : variables) {
    numbers.push_back(wanted.Variable);
  }
  return numbers;
}

/// Makes blocks of the shown patches, and the request for this rank's blocks.
void PlanBlocks(PlannedStep& planned, LoadRequest request)
{
  const Stopwatch watch;
  const Catalog& catalog = planned.Data();
  const std::vector<int> variables = NumbersOf(planned.RequestedVariables);
  planned.Patches.LeaveOutGrids(variables);
  planned.Plan = MakePlan(catalog, planned.Patches, planned.Options, variables);
  request.Blocks.clear();
  for (const std::size_t b : planned.Plan.LocalBlocks) {
    request.Blocks.push_back(planned.Plan.Blocks[b]);
  }
  request.Variables = planned.RequestedVariables;
  if (planned.GridsKey() != planned.KeptGrids) {
    planned.KeptGrids.clear();  // the caller drops these grids
  }
  if (!planned.KeptGrids.empty()) {
    const auto isTimeInvariant = [&catalog](const VariableRequest& wanted) {
      return catalog.Variables[wanted.Variable].TimeInvariant;
    };
    request.Variables.erase(
        std::remove_if(request.Variables.begin(), request.Variables.end(), isTimeInvariant),
        request.Variables.end());
  }
  planned.Request = std::make_shared<LoadRequest>(std::move(request));
  planned.PlanSeconds += watch.Seconds();
}

/// Exchanges the faults of all ranks, and leaves out the patches that cannot be read. Returns true if merged
/// blocks contain some of these patches, so that the read must be planned again. Throws Error like
/// LocateStep(). Collective: every rank of the communicator calls it.
bool LeaveOutUnreadable(PlannedStep& step, const std::string& fatal, const std::vector<LoadFault>& faults)
{
  const GatheredFaults gathered = GatherFaults(*step.Ranks, fatal, faults);
  if (!gathered.Fatal.empty()) {
    throw Error(JoinLines(gathered.Fatal));
  }
  if (!gathered.Patches.empty() && !step.Options.SkipBroken) {
    throw Error(
        "The output is empty, because some patches cannot be read. Turn on Skip Broken Patches to see the "
        "other patches.\n" +
        JoinLines(gathered.Texts));
  }
  std::vector<std::string>& texts = step.BrokenTexts;
  for (const std::string& text : gathered.Texts) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(text);
    }
  }
  const bool newlyBroken = step.Patches.LeaveOutBroken(gathered.Patches);
  if (newlyBroken && !MergesPatches(step.Data(), step.Options)) {
    // Each block is one patch, so the other blocks stay valid.
    step.Plan.Nests = std::make_unique<Nesting>(step.Data(), step.Patches.Flags());
    return false;
  }
  return newlyBroken;
}

/// Returns whether the variable holds the positions of the block.
bool HoldsPositions(const Catalog& catalog, const Block& block, int variable)
{
  return variable == catalog.CoordinatesVariable ||
         (catalog.Variables[variable].Role == MeshRole::Points &&
             catalog.Meshes[block.Parts[0].Owner].Points > 0) ||
         (catalog.Variables[variable].Positions && catalog.RoleOf(block.Level) == LevelRole::Points &&
             catalog.PositionsVariable(block.Level) == variable);
}

/// Adds a fault for each block whose positions (of nodes in curvilinear grids and meshes, or of points) were
/// requested but are not in the files.
void ReportMissingPositions(const Catalog& catalog, const RequestedArrays& request, const LoadResult& loaded,
    std::vector<LoadFault>& faults)
{
  for (std::size_t v = 0; v < request.Variables.size(); ++v) {
    const int variable = request.Variables[v].Variable;
    for (std::size_t b = 0; b < request.Blocks.size(); ++b) {
      const Block& block = request.Blocks[b];
      if (HoldsPositions(catalog, block, variable) && loaded.At(b, v).Status == ArrayStatus::Absent) {
        const int patch = block.Parts[0].Owner;
        const Error error =
            catalog.Variables[variable].Positions
                ? FileError(catalog.Path, "the positions of points", "none", "The file is damaged")
                : FileError(catalog.Path, "node positions for patch " + std::to_string(patch), "none",
                      "The data are damaged");
        faults.push_back({patch, variable, error.what()});
      }
    }
  }
}

/// Sets Substitutes and HasUndefined from the arrays of all ranks. Collective: every rank of the communicator
/// calls it.
void SetSubstitutes(LoadedStep& loaded)
{
  // Ranks whose grids are kept read fewer variables than other ranks.
  std::vector<VariableState> arrays(loaded.RequestedVariables.size());
  std::vector<std::size_t> numbers;  // position in RequestedVariables of each variable that was read
  for (std::size_t a = 0, v = 0; v < loaded.Variables().size(); ++v, ++a) {
    while (!(loaded.RequestedVariables[a] == loaded.Variables()[v])) {
      ++a;
    }
    numbers.push_back(a);
  }
  const std::vector<Block>& blocks = loaded.Request->Blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const bool points = loaded.Data().RoleOf(blocks[b].Level) == LevelRole::Points;
    for (std::size_t v = 0; v < numbers.size(); ++v) {
      const LoadedArray& array = loaded.Array(b, v);
      arrays[numbers[v]].Add(array.Status == ArrayStatus::Read
                                 ? VariableState{false, array.HasUndefined, points, int(array.Type)}
                                 : VariableState{array.Status == ArrayStatus::Absent});
    }
  }
  arrays = CombineVariableStates(*loaded.Ranks, std::move(arrays));
  for (const std::size_t a : numbers) {
    const VariableState& variable = arrays[a];
    const bool substituted = variable.IsPartial && variable.Type >= 0 && !loaded.Options.Partial;
    loaded.Substitutes.push_back(
        substituted
            ? std::optional<SubstituteArray>({static_cast<ElementType>(variable.Type), variable.OfPoints})
            : std::nullopt);
  }
  loaded.HasUndefined = std::any_of(
      arrays.begin(), arrays.end(), [](const VariableState& variable) { return variable.HasUndefined; });
}

/// Returns the states of the files that this rank reads; the describing file is the first.
std::vector<std::optional<FileState>> StatesOfFiles(const LocatedStep& located)
{
  std::vector<std::string> files{located.Data().Path};
  const std::vector<std::string> others = located.ReadOfRank->Files();
  files.insert(files.end(), others.begin(), others.end());
  return StatesOf(files, located.Request->Threads);
}

}  // namespace

PlannedStep PlanStep(Communicator& ranks, std::shared_ptr<OpenedStep> step, const StepOptions& options,
    const LoadRequest& request, const std::string& keptGrids)
{
  const std::shared_ptr<const Catalog> catalog = step->SharedData();
  PlannedStep planned{&ranks, std::move(step), catalog, options, ShownPatches(*catalog, options),
      request.Variables, keptGrids, {}, nullptr, 0, {}};
  RunOnAllRanks(ranks, [&] { PlanBlocks(planned, request); });
  return planned;
}

PlannedStep Replan(PlannedStep planned)
{
  RunOnAllRanks(*planned.Ranks, [&planned] { PlanBlocks(planned, *planned.Request); });
  return planned;
}

std::optional<LocatedStep> LocateStep(PlannedStep planned, const ProgressCallback& progress)
{
  for (;;) {
    LocatedStep located{std::move(planned), nullptr};
    std::string fatal;
    const auto work = [&](const ProgressCallback& goesOn) {
      const auto locate = [&](const std::vector<PatchVariable>& requests) {
        return located.Step->Locate(requests, located.Request->Threads, goesOn, located.Request->Verify);
      };
      fatal = CatchError([&] {
        located.Request->DescribingFingerprint = located.Step->DescribingFingerprint();
        located.ReadOfRank = std::make_shared<RankRead>(locate, located.SharedData, located.Request);
      });
    };
    if (located.Step->Index()) {
      work({});  // an index answers at once
    } else if (!RunUnlessStopped(*located.Ranks, progress, work)) {
      return std::nullopt;
    }
    if (!LeaveOutUnreadable(
            located, fatal, located.ReadOfRank ? located.ReadOfRank->Faults() : std::vector<LoadFault>())) {
      return located;
    }
    planned = Replan(std::move(located));
  }
}

LoadedStep LoadStep(LocatedStep located, ReadThreads& threads, const ReadProgressCallback& progress)
{
  LoadedStep loaded{std::move(located), LoadOutcome::Complete, {}, {}, false};
  const LoadRequest& request = *loaded.Request;
  if (!request.IsPrefetch) {
    CheckMemoryOfMachines(*loaded.Ranks, loaded.ReadOfRank->BytesNeeded());
  }
  SharedProgress together(*loaded.Ranks);
  RateLimiter pace(ReportInterval);
  const auto shallStop = [&] { return progress && pace.TryAcquire() && !progress(together.Total()); };
  std::vector<LoadFault> faults;
  const std::string fatal = CatchError([&] {
    loaded.Result = loaded.ReadOfRank->Read(
        [&](const ReadProgress& ofThisRank) { return together.Step(ofThisRank, shallStop()); });
    faults = loaded.Result.Faults;
    ReportMissingPositions(loaded.Data(), request, loaded.Result, faults);
  });
  together.Finish([&] {
    if (request.Control) {
      request.Control->ServeOtherRanks();
    }
    return shallStop();
  });
  threads.End(request);
  if (together.Stopped()) {
    loaded.Outcome = LoadOutcome::Stopped;
    return loaded;
  }
  const bool again = request.IsPrefetch ? !AllOf(*loaded.Ranks, fatal.empty() && faults.empty())
                                        : LeaveOutUnreadable(loaded, fatal, faults);
  if (again) {
    loaded.Outcome = LoadOutcome::Replan;
  } else {
    SetSubstitutes(loaded);
  }
  return loaded;
}

void LoadedStep::ReportAssembly(double seconds)
{
  IoReport& report = this->Report();
  report.Patches = PatchesOfPiece(this->Plan, this->Data(), this->Options);
  report.Blocks = this->Plan.LocalBlocks.size();
  report.AssembleSeconds = this->PlanSeconds + seconds;
  for (const std::string& note : {NoGhostLayerText(this->Data(), this->Options),
           PartialGhostLayerText(
               this->Data(), this->Patches, this->Options, NumbersOf(this->RequestedVariables))}) {
    if (!note.empty()) {
      report.Notes.push_back(note);
    }
  }
}

std::string LoadedStep::Warning() const
{
  const std::size_t broken = this->Patches.CountBroken();
  return broken == 0 ? std::string()
                     : "PatchIO skips " + std::to_string(broken) + " of " +
                           std::to_string(this->Data().Patches.size()) + " patches, which cannot be read.\n" +
                           JoinLines(this->BrokenTexts);
}

double LoadedStep::MeanCellsPerBlock() const
{
  double cells = 0;
  for (const Block& block : this->Request->Blocks) {
    cells += static_cast<double>(block.Cells.CellCount());
  }
  return this->Request->Blocks.empty() ? 0 : cells / static_cast<double>(this->Request->Blocks.size());
}

bool PrefetchedStep::IsUpToDate(const StepOptions& options, const std::vector<VariableRequest>& variables,
    const std::string& keptGrids) const
{
  const std::string& key = this->Located.GridsKey();
  if (!(this->Located.Options == options) || this->Located.RequestedVariables != variables ||
      (!key.empty() && key != keptGrids)) {
    return false;
  }
  const auto now = StatesOfFiles(this->Located);
  return std::equal(
      now.begin(), now.end(), this->Files.begin(), this->Files.end(), [](const auto& a, const auto& b) {
        return a.has_value() == b.has_value() && (!a || a->Print == b->Print);
      });
}

PrefetchedStep ReservePrefetch(LocatedStep located, std::size_t number)
{
  // A prefetch leaves memory for filters, pictures and other programs. Similarly, the I/O ranks of B. Yang et
  // al., "Input/Output analysis and optimization for GRAPES regional model" (2022), accept data only up to a
  // fraction of their memory.
  constexpr double shareOfFree = 0.5;
  constexpr double shareOfLimit = 0.9;
  PrefetchedStep ahead{number, std::move(located), {}};
  Communicator& ranks = *ahead.Located.Ranks;
  const double needed = ahead.Located.ReadOfRank->BytesNeeded();
  CheckMemoryOfMachines(ranks, needed, shareOfFree);
  RunOnAllRanks(ranks, [&] {
    const MemoryPool& memory = *ahead.Located.Request->Memory;
    const double limit = static_cast<double>(memory.Limit());
    if (limit > 0 && static_cast<double>(memory.TotalBytes()) + needed > shareOfLimit * limit) {
      throw Error("the memory limit leaves no space for another step");
    }
    ahead.Located.ReadOfRank->Allocate();
    ahead.Files = StatesOfFiles(ahead.Located);
  });
  return ahead;
}

}  // namespace patchio
