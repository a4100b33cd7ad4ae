#include "Session/PatchUpdate.h"

#include "Io/SharedProgress.h"
#include "Session/MissingPlaces.h"
#include "Session/SharedCatalog.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"
#include "Tuning/ReadControl.h"

#include <algorithm>

namespace patchio {

PatchUpdate::PatchUpdate(Communicator& ranks, const OpenedStep& step, const UpdateOptions& options)
    : Ranks(ranks), Step(step), Description(step.Data()), Options(options), Shown(step.Data(), options)
{
}

void PatchUpdate::Plan(const LoadRequest& request, const std::string& keptFrames)
{
  const Stopwatch watch;
  this->NewlyBroken = false;
  this->AskedFor = request.Variables;
  this->Request = std::make_shared<LoadRequest>(request);
  std::vector<int> variables;
  for (const VariableRequest& wanted : request.Variables) {
    variables.push_back(wanted.Variable);
  }
  this->Shown.LeaveOutGrids(variables);
  this->PlanAtHand = MakePlan(this->Description, this->Shown, this->Options, variables);
  for (const std::size_t b : this->PlanAtHand.Mine) {
    this->Request->Blocks.push_back(this->PlanAtHand.Blocks[b]);
  }
  const std::string& key = this->PlanAtHand.FramesKey;
  if (!key.empty() && key == keptFrames) {
    this->LeaveOutTimeInvariant();
  }
  this->PlanSeconds += watch.Seconds();
}

void PatchUpdate::LeaveOutTimeInvariant()
{
  const auto isSteady = [this](const VariableRequest& wanted) {
    return this->Description.Variables[wanted.Variable].TimeInvariant;
  };
  std::vector<VariableRequest>& variables = this->Request->Variables;
  variables.erase(std::remove_if(variables.begin(), variables.end(), isSteady), variables.end());
}

void PatchUpdate::Locate(const ProgressCallback& progress)
{
  const auto work = [this](const ProgressCallback& goesOn) {
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      return this->Step.Locate(requests, this->Request->Threads, goesOn);
    };
    this->Fatal = CatchError([&] {
      this->Request->DescribedBy = this->Step.DescribedBy();
      this->Loader = std::make_shared<PatchLoader>(locate, this->Step.SharedData(), this->Request);
      this->Faults = this->Loader->Faults();
    });
  };
  if (this->Step.Index()) {
    work({});  // it answers at once
  } else {
    this->WasStopped = !RunUnlessStopped(this->Ranks, progress, work);
  }
}

void PatchUpdate::CheckMemory()
{
  CheckMemoryOfMachines(this->Ranks, this->Loader->BytesNeeded());
}

void PatchUpdate::PrepareAhead()
{
  // What is read ahead leaves room for filters and pictures, and for others; as the I/O ranks of the
  // GRAPES_MESO framework accept no more than a share of their memory.
  constexpr double shareOfFree = 0.5;
  constexpr double shareOfLimit = 0.9;
  const double needed = this->Loader->BytesNeeded();
  CheckMemoryOfMachines(this->Ranks, needed, shareOfFree);
  RunOnAllRanks(this->Ranks, [&] {
    const MemoryPool& memory = *this->Request->Memory;
    const double limit = static_cast<double>(memory.Limit());
    if (limit > 0 && static_cast<double>(memory.TotalBytes()) + needed > shareOfLimit * limit) {
      throw Error("the memory limit leaves no room for another step");
    }
    this->Loader->Allocate();
    this->FilesThen = this->StatesOfFiles();
  });
}

/// Of those that this rank reads, the describing one first.
std::vector<std::optional<FileState>> PatchUpdate::StatesOfFiles() const
{
  std::vector<std::string> files{this->Description.Path};
  const std::vector<std::string> others = this->Loader->Files();
  files.insert(files.end(), others.begin(), others.end());
  return StatesOf(files, this->Request->Threads);
}

bool PatchUpdate::StillHolds(
    const UpdateOptions& options, const LoadRequest& request, const std::string& keptFrames) const
{
  const std::string& key = this->PlanAtHand.FramesKey;
  if (!(this->Options == options) || this->AskedFor != request.Variables ||
      (!key.empty() && key != keptFrames)) {
    return false;
  }
  const auto now = this->StatesOfFiles();
  return std::equal(now.begin(), now.end(), this->FilesThen.begin(), this->FilesThen.end(),
      [](const auto& a, const auto& b) {
        return a.has_value() == b.has_value() && (!a || a->Print == b->Print);
      });
}

bool PatchUpdate::SoundEverywhere() const
{
  return AllOf(this->Ranks, this->Fatal.empty() && this->Faults.empty());
}

void PatchUpdate::Read(const ReadProgressCallback& progress)
{
  SharedProgress together(this->Ranks);
  Pace pace(TellInterval);
  const auto shallStop = [&] { return progress && pace.Due() && !progress(together.OfAll()); };
  this->Fatal = CatchError([&] {
    this->Loaded =
        this->Loader->Read([&](const ReadProgress& mine) { return together.Step(mine, shallStop()); });
    this->Faults = this->Loaded.Faults;
    const std::vector<LoadFault> missing = MissingPlaces(this->Description, *this->Request, this->Loaded);
    this->Faults.insert(this->Faults.end(), missing.begin(), missing.end());
  });
  together.Finish([&] {
    if (this->Request->Control) {
      this->Request->Control->Serve();
    }
    return shallStop();
  });
  this->WasStopped = together.Stopped();
  this->WasRead = true;
}

void PatchUpdate::AgreeOnFaults()
{
  std::vector<std::string> texts;
  std::vector<int> broken;
  for (const LoadFault& fault : this->Faults) {
    texts.push_back(fault.Message);
    broken.push_back(fault.Patch);
  }
  const std::vector<std::string> fatal = GatherFaults(this->Ranks, {this->Fatal});
  texts = GatherFaults(this->Ranks, texts);
  broken = this->Ranks.AllGather(broken);
  if (!fatal.empty()) {
    throw Error(JoinLines(fatal));
  }
  if (!broken.empty() && !this->Options.SkipBroken) {
    throw Error(
        "The dump is partly broken, so nothing is shown. Turn on 'Skip Broken Patches' to see the rest.\n" +
        JoinLines(texts));
  }
  this->NewlyBroken = this->Shown.LeaveOutBroken(broken) || this->NewlyBroken;
  for (const std::string& text : texts) {
    if (std::find(this->BrokenTexts.begin(), this->BrokenTexts.end(), text) == this->BrokenTexts.end()) {
      this->BrokenTexts.push_back(text);
    }
  }
  if (this->NewlyBroken && !Merges(this->Description, this->Options)) {
    // Patches by themselves: the others are as they were.
    this->PlanAtHand.Nests = std::make_unique<Nesting>(this->Description, this->Shown.Flags());
    this->NewlyBroken = false;
  }
}

namespace {

/// A variable on the blocks of a rank, as ranks tell each other.
struct ArraysOfVariable
{
  bool Lacking = false;    ///< some block lacks it
  bool Undefined = false;  ///< some values are undefined
  bool OfPoints = false;   ///< it lies on lists of points
  int Type = -1;           ///< its ElementType; -1: no block has it

  void Add(const ArraysOfVariable& other)
  {
    this->Lacking = this->Lacking || other.Lacking;
    this->Undefined = this->Undefined || other.Undefined;
    this->OfPoints = this->OfPoints || other.OfPoints;
    this->Type = std::max(this->Type, other.Type);
  }
  int ToInt() const
  {
    return (this->Type + 1) * 8 + this->Lacking + 2 * this->Undefined + 4 * this->OfPoints;
  }
  static ArraysOfVariable FromInt(int value)
  {
    return {(value & 1) != 0, (value & 2) != 0, (value & 4) != 0, value / 8 - 1};
  }
};

}  // namespace

void PatchUpdate::AgreeOnBlanks()
{
  const std::size_t variables = this->Request->Variables.size();
  std::vector<ArraysOfVariable> arrays(variables);
  for (std::size_t b = 0; b < this->Request->Blocks.size(); ++b) {
    const bool points = this->Description.RoleOf(this->Request->Blocks[b].Level) == LevelRole::Points;
    for (std::size_t v = 0; v < variables; ++v) {
      const LoadedArray& array = this->Loaded.At(b, v);
      if (array.Status == ArrayStatus::Read) {
        arrays[v].Add({false, array.HasUndefined, points, static_cast<int>(array.Type)});
      } else {
        arrays[v].Add({array.Status == ArrayStatus::Absent});
      }
    }
  }
  std::vector<int> mine;
  for (const ArraysOfVariable& array : arrays) {
    mine.push_back(array.ToInt());
  }
  const std::vector<int> all = this->Ranks.AllGather(mine);
  for (std::size_t i = 0; i < all.size(); ++i) {
    arrays[i % variables].Add(ArraysOfVariable::FromInt(all[i]));
  }
  this->BlanksOfVariables.assign(variables, std::nullopt);
  this->UndefinedSomewhere = false;
  for (std::size_t v = 0; v < variables; ++v) {
    this->UndefinedSomewhere = this->UndefinedSomewhere || arrays[v].Undefined;
    if (arrays[v].Lacking && arrays[v].Type >= 0 && !this->Options.Partial) {
      this->BlanksOfVariables[v] = {static_cast<ElementType>(arrays[v].Type), arrays[v].OfPoints};
    }
  }
}

std::string PatchUpdate::Warning() const
{
  const std::size_t broken = this->Shown.Broken();
  return broken == 0 ? std::string()
                     : std::to_string(broken) + " of " + std::to_string(this->Description.Patches.size()) +
                           " patches cannot be read and are left out.\n" + JoinLines(this->BrokenTexts);
}

void PatchUpdate::ReportAssembly(double seconds)
{
  IoReport& report = this->Loaded.Report;
  report.Patches = PatchesOfPiece(this->PlanAtHand, this->Description, this->Options);
  report.Blocks = this->PlanAtHand.Mine.size();
  report.AssembleSeconds = this->PlanSeconds + seconds;
  std::vector<int> variables;
  for (const VariableRequest& wanted : this->AskedFor) {
    variables.push_back(wanted.Variable);
  }
  for (const std::string& note : {NoGhostLayerText(this->Description, this->Options),
           PartialGhostLayerText(this->Description, this->Shown, this->Options, variables)}) {
    if (!note.empty()) {
      report.Notes.push_back(note);
    }
  }
}

double PatchUpdate::CellsOfBlock() const
{
  double cells = 0;
  for (const Block& block : this->Request->Blocks) {
    cells += static_cast<double>(block.Cells.Cells());
  }
  return this->Request->Blocks.empty() ? 0 : cells / static_cast<double>(this->Request->Blocks.size());
}

}  // namespace patchio
