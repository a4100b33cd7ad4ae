#include "PatchUpdate.h"

#include "PatchAssembler.h"
#include "Plan/GhostLayer.h"
#include "Plan/IdleLevels.h"
#include "Plan/Partition.h"
#include "Read/ReadControl.h"
#include "Read/SharedCatalog.h"
#include "Read/SharedProgress.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/Stopwatch.h"
#include "Support/Together.h"

#include <algorithm>
#include <optional>

namespace patchio {

bool AllOf(Communicator& ranks, bool holds)
{
  const std::vector<int> all = ranks.AllGather(std::vector<int>{holds ? 1 : 0});
  return std::find(all.begin(), all.end(), 0) == all.end();
}

std::string JoinLines(const std::vector<std::string>& texts)
{
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : "\n") + text;
  }
  return joined;
}

PatchUpdate::PatchUpdate(
    Communicator& ranks, const OpenedStep& step, const UpdateOptions& options, KeptFrames& kept)
    : Ranks(ranks), Step(step), Data(step.Data()), Options(options), Kept(kept)
{
  for (const Patch& patch : this->Data.Patches) {
    this->Shown.push_back(patch.Level >= options.FirstLevel && patch.Level <= options.LastLevel);
  }
  this->Idle.assign(this->Data.Levels.size(), false);
  this->Near = PatchesNear(this->Data, options.Region);
  for (std::size_t p = 0; p < options.WithValues.size(); ++p) {
    this->Near[p] = this->Near[p] && options.WithValues[p];
  }
}

/// What is not near still hides what it covers: coarse values in place of finer ones that were not asked for
/// would be another picture.
std::vector<bool> PatchUpdate::ShownAndNear() const
{
  std::vector<bool> both = this->Shown;
  for (std::size_t p = 0; p < both.size(); ++p) {
    both[p] = both[p] && this->Near[p];
  }
  return both;
}

std::string PatchUpdate::LeftOutText() const
{
  const auto count = [](const std::vector<bool>& flags) {
    return std::count(flags.begin(), flags.end(), true);
  };
  const auto shown = count(this->Shown), read = count(this->ShownAndNear());
  return shown == read ? std::string()
                       : std::to_string(shown - read) + " of " + std::to_string(shown) +
                             " patches are not read: they are not of interest";
}

bool PatchUpdate::Empty() const
{
  return !this->Shown.empty() && std::find(this->Shown.begin(), this->Shown.end(), true) == this->Shown.end();
}

void PatchUpdate::Plan(const LoadRequest& request)
{
  const Stopwatch watch;
  this->NewlyBroken = false;
  this->AskedFor = request.Variables;
  this->Request = std::make_shared<LoadRequest>(request);
  std::vector<int> variables;
  for (const VariableRequest& wanted : request.Variables) {
    variables.push_back(wanted.Variable);
  }
  this->LeaveOutIdleLevels(variables);
  const std::vector<int> kinds = KindsOfPatches(this->Data, variables);
  this->Nests = std::make_unique<Nesting>(this->Data, this->Shown);
  this->Blocks = MakeBlocks(this->Data, this->ShownAndNear(), kinds, *this->Nests, this->Options.HideRefined,
      this->OptionsForPieces());
  this->PieceOfBlock =
      PartitionBlocks(this->Data, this->Blocks, this->Weights(request.Variables), this->Options.Pieces);
  this->Mine.clear();
  for (std::size_t b = 0; b < this->Blocks.size(); ++b) {
    if (this->PieceOfBlock[b] == this->Options.Piece) {
      this->Mine.push_back(b);
      if (this->AddsGhostLayer() && this->Data.RoleOf(this->Blocks[b].Level) != LevelRole::Points) {
        AddGhostLayer(this->Data, *this->Nests, kinds, this->Blocks[b]);
      }
      this->Request->Blocks.push_back(this->Blocks[b]);
    }
  }
  this->FramesKey = this->KeyOfFrames(request);
  if (this->FramesKey.empty() || this->FramesKey != this->Kept.Key) {
    this->Kept = KeptFrames();
  } else {
    this->LeaveOutSteady();
  }
  this->PlanSeconds += watch.Seconds();
}

/// All that the blocks of this piece and their steady parts depend on, but for the contents of the file: who
/// sees that it has changed forgets the frames. Empty where there is only one step.
std::string PatchUpdate::KeyOfFrames(const LoadRequest& request) const
{
  if (this->Data.StepsInFile == 1) {
    return {};
  }
  std::string key = this->Data.Path;
  const auto add = [&key](std::int64_t number) { key += ' ' + std::to_string(number); };
  for (const VariableRequest& variable : request.Variables) {
    add(variable.Variable);
  }
  const UpdateOptions& options = this->Options;
  for (const std::int64_t number : {std::int64_t(options.HideRefined), std::int64_t(options.GhostLayer),
           std::int64_t(options.PatchIds), std::int64_t(options.PointsAsImage), std::int64_t(options.Sphere),
           std::int64_t(options.Piece), std::int64_t(options.Pieces), std::int64_t(options.Ghosts[0]),
           std::int64_t(options.Ghosts[1]), std::int64_t(options.Ghosts[2])}) {
    add(number);
  }
  for (const std::size_t b : this->Mine) {
    add(static_cast<std::int64_t>(b));
    for (const OwnedBox& part : this->Blocks[b].Parts) {
      add(part.Owner);
    }
    for (int axis = 0; axis < 3; ++axis) {
      add(this->Blocks[b].Cells.Lower[axis]);
      add(this->Blocks[b].Cells.Upper[axis]);
    }
  }
  return key;
}

void PatchUpdate::LeaveOutSteady()
{
  std::vector<VariableRequest>& variables = this->Request->Variables;
  variables.erase(std::remove_if(variables.begin(), variables.end(),
                      [this](const VariableRequest& v) { return this->Data.Variables[v.Variable].Steady; }),
      variables.end());
}

void PatchUpdate::LeaveOutIdleLevels(const std::vector<int>& variables)
{
  this->Idle = IdleLevels(this->Data, this->Options.FirstLevel, this->Options.LastLevel, variables);
  for (std::size_t p = 0; p < this->Shown.size(); ++p) {
    this->Shown[p] = this->Shown[p] && !this->Idle[this->Data.Patches[p].Level];
  }
}

/// Boxes of cells without layers of their own: only these can be merged.
bool PatchUpdate::HasPlainBoxes() const
{
  return this->Data.Grid != GridKind::Curvilinear && this->Options.Ghosts == Int3{0, 0, 0};
}

bool PatchUpdate::Merges() const
{
  return this->Options.Blocks.Merge && this->HasPlainBoxes();
}

bool PatchUpdate::AddsGhostLayer() const
{
  return this->Options.GhostLayer && this->Data.Grid == GridKind::Uniform && this->HasPlainBoxes();
}

/// Several pieces get several blocks each, so that their loads can be alike.
BlockOptions PatchUpdate::OptionsForPieces() const
{
  constexpr double blocksOfPiece = 4;
  constexpr double least = 4096;
  BlockOptions options = this->Options.Blocks;
  options.Merge = this->Merges();
  if (this->Options.Pieces > 1) {
    double cells = 0;
    const std::vector<bool> wanted = this->ShownAndNear();
    for (std::size_t p = 0; p < wanted.size(); ++p) {
      cells += wanted[p] ? static_cast<double>(this->Data.Patches[p].Cells.Cells()) : 0;
    }
    const double most = std::max(least, cells / (blocksOfPiece * this->Options.Pieces));
    options.Cover.MostCells =
        static_cast<std::int64_t>(std::min(static_cast<double>(options.Cover.MostCells), most));
  }
  return options;
}

/// What each block costs to read, as numbers of stored values.
std::vector<std::int64_t> PatchUpdate::Weights(const std::vector<VariableRequest>& variables) const
{
  std::vector<std::int64_t> weights;
  for (const Block& block : this->Blocks) {
    double weight = 0;
    for (const OwnedBox& part : block.Parts) {
      const double share = static_cast<double>(part.Cells.Cells()) /
                           static_cast<double>(this->Data.Patches[part.Owner].Cells.Cells());
      weight += share * static_cast<double>(this->StoredValues(variables, part.Owner));
    }
    weights.push_back(static_cast<std::int64_t>(std::min(weight, 1e15)));
  }
  return weights;
}

std::int64_t PatchUpdate::StoredValues(const std::vector<VariableRequest>& variables, int patch) const
{
  std::int64_t values = 0;
  for (const VariableRequest& wanted : variables) {
    if (this->Data.PresenceOf(wanted.Variable, patch) == Presence::Stored) {
      values +=
          this->Data.StoredTuples(wanted.Variable, patch) * this->Data.Variables[wanted.Variable].Components;
    }
  }
  return values;
}

void PatchUpdate::Locate()
{
  this->Fatal = FaultOf([&] {
    const auto locate = [this](const std::vector<PatchVariable>& requests) {
      return this->Step.Locate(requests, this->Request->Threads);
    };
    this->Request->DescribedBy = this->Step.DescribedBy();
    this->Loader = std::make_shared<PatchLoader>(locate, this->Step.SharedData(), this->Request);
    this->Faults = this->Loader->Faults();
  });
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
  Together(this->Ranks, [&] {
    const SlabPool& memory = *this->Request->Memory;
    const double limit = static_cast<double>(memory.Limit());
    if (limit > 0 && static_cast<double>(memory.TotalBytes()) + needed > shareOfLimit * limit) {
      throw Error("There is no memory within the limit to read ahead.");
    }
    this->Loader->Allocate();
    this->FilesThen = this->StatesOfFiles();
  });
}

/// Of those that this rank reads, the describing one first.
std::vector<std::optional<FileState>> PatchUpdate::StatesOfFiles() const
{
  std::vector<std::string> files{this->Data.Path};
  const std::vector<std::string> others = this->Loader->Files();
  files.insert(files.end(), others.begin(), others.end());
  return StatesOf(files, this->Request->Threads);
}

bool PatchUpdate::StillHolds(const UpdateOptions& options, const LoadRequest& request) const
{
  if (!(this->Options == options) || this->AskedFor != request.Variables ||
      (!this->FramesKey.empty() && this->FramesKey != this->Kept.Key)) {
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
  std::optional<Stopwatch> told;
  const auto shallStop = [&] {
    if (told && told->Seconds() < 0.01) {
      return false;
    }
    told = Stopwatch();
    return progress && !progress(together.OfAll());
  };
  this->Fatal = FaultOf([&] {
    this->Loaded =
        this->Loader->Read([&](const ReadProgress& mine) { return together.Step(mine, shallStop()); });
    this->Faults = this->Loaded.Faults;
    this->CheckCoordinates();
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

void PatchUpdate::CheckCoordinates()
{
  const auto& variables = this->Request->Variables;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const int positions = variables[v].Variable;
    for (std::size_t b = 0; this->Data.Variables[positions].Positions && b < this->Request->Blocks.size();
         ++b) {
      const Block& block = this->Request->Blocks[b];
      const int patch = block.Parts[0].Owner;
      if (this->Data.RoleOf(block.Level) == LevelRole::Points &&
          this->Data.PositionsOf(block.Level) == positions &&
          this->Loaded.At(b, v).Status == ArrayStatus::Absent) {
        const Error error = FileError(this->Data.Path, "the places of points", "none", "The file is damaged");
        this->Faults.push_back({patch, positions, error.what()});
      }
    }
  }
  const auto isCoordinates = [this](const VariableRequest& v) {
    return v.Variable == this->Data.CoordinatesVariable;
  };
  const auto coordinates = std::find_if(variables.begin(), variables.end(), isCoordinates);
  for (std::size_t b = 0; coordinates != variables.end() && b < this->Request->Blocks.size(); ++b) {
    if (this->Loaded.At(b, coordinates - variables.begin()).Status == ArrayStatus::Absent) {
      const int patch = this->Request->Blocks[b].Parts[0].Owner;
      const Error error = FileError(this->Data.Path, "node positions for patch " + std::to_string(patch),
          "none", "The dump is damaged");
      this->Faults.push_back({patch, coordinates->Variable, error.what()});
    }
  }
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
  for (const int patch : broken) {
    this->NewlyBroken = this->NewlyBroken || this->Shown[patch];
    this->Shown[patch] = false;
  }
  for (const std::string& text : texts) {
    if (std::find(this->BrokenTexts.begin(), this->BrokenTexts.end(), text) == this->BrokenTexts.end()) {
      this->BrokenTexts.push_back(text);
    }
  }
  if (this->NewlyBroken && !this->Merges()) {
    // Patches by themselves: the others are as they were.
    this->Nests = std::make_unique<Nesting>(this->Data, this->Shown);
    this->NewlyBroken = false;
  }
}

std::string PatchUpdate::Warning() const
{
  std::size_t broken = 0;
  for (std::size_t p = 0; p < this->Shown.size(); ++p) {
    const int level = this->Data.Patches[p].Level;
    broken += !this->Shown[p] && !this->Idle[level] && level >= this->Options.FirstLevel &&
                      level <= this->Options.LastLevel
                  ? 1
                  : 0;
  }
  return broken == 0 ? std::string()
                     : std::to_string(broken) + " of " + std::to_string(this->Shown.size()) +
                           " patches cannot be read and are left out.\n" + JoinLines(this->BrokenTexts);
}

AssemblyOptions PatchUpdate::OptionsOfAssembly() const
{
  AssemblyOptions options;
  options.BlankRefined = this->Options.HideRefined;
  options.PatchIds = this->Options.PatchIds;
  options.PointsAsImage = this->Options.PointsAsImage;
  options.HideUndefined = this->Options.HideUndefined;
  options.Sphere = this->Options.Sphere;
  options.GhostLayer = this->AddsGhostLayer();
  options.Rank = this->Ranks.Rank();
  return options;
}

void PatchUpdate::Assemble(vtkMultiBlockDataSet* output)
{
  const Stopwatch watch;
  const PatchAssembler assembler(
      this->Data, *this->Nests, this->Request->Variables, this->Options.Ghosts, this->OptionsOfAssembly());
  assembler.BuildTree(output, this->Blocks, this->Options.FirstLevel, this->Options.LastLevel);
  std::vector<LoadedArray*> arrays(this->Request->Variables.size());
  const bool known = !this->Kept.Key.empty();
  std::vector<BlockFrame> frames = known ? std::move(this->Kept.Frames) : std::vector<BlockFrame>();
  frames.resize(this->Mine.size());
  this->Kept = KeptFrames();  // should something be thrown
  for (std::size_t i = 0; i < this->Mine.size(); ++i) {
    const Block& block = this->Blocks[this->Mine[i]];
    if (this->Shown[block.Parts[0].Owner]) {
      for (std::size_t v = 0; v < arrays.size(); ++v) {
        arrays[v] = &this->Loaded.At(i, v);
      }
      if (!frames[i].Grid) {
        frames[i] = assembler.MakeFrame(block, arrays);
      }
      assembler.AddBlock(output, this->Blocks, this->Mine[i], frames[i], arrays);
    }
  }
  if (!this->FramesKey.empty()) {
    this->Kept.Key = this->FramesKey;
    this->Kept.Frames = std::move(frames);
  }
  IoReport& report = this->Loaded.Report;
  report.Patches = this->PatchesOfPiece();
  report.Blocks = this->Mine.size();
  report.AssembleSeconds = this->PlanSeconds + watch.Seconds();
  if (this->Options.GhostLayer && !this->AddsGhostLayer()) {
    report.Notes.emplace_back(
        this->Data.Grid == GridKind::Uniform
            ? "Add Ghost Layer has no effect while Read Ghost Cells keeps the layers of the files"
        : this->Data.Grid == GridKind::Rectilinear
            ? "Add Ghost Layer has no effect here: blocks share the nodes between them"
            : "Add Ghost Layer has no effect on deformed patches");
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

/// A patch that lies in blocks of several pieces counts where its first block is.
std::uint64_t PatchUpdate::PatchesOfPiece() const
{
  std::vector<bool> counted(this->Shown.size(), false);
  std::uint64_t mine = 0;
  for (std::size_t b = 0; b < this->Blocks.size(); ++b) {
    for (const OwnedBox& part : this->Blocks[b].Parts) {
      mine += !counted[part.Owner] && this->PieceOfBlock[b] == this->Options.Piece ? 1 : 0;
      counted[part.Owner] = true;
    }
  }
  return mine;
}

}  // namespace patchio
