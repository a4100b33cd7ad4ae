#include "PatchUpdate.h"

#include "PatchAssembler.h"
#include "Plan/Partition.h"
#include "Read/SharedCatalog.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/Stopwatch.h"
#include "Support/Together.h"

#include <algorithm>

namespace patchio {

std::string JoinLines(const std::vector<std::string>& texts)
{
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : "\n") + text;
  }
  return joined;
}

PatchUpdate::PatchUpdate(Communicator& ranks, const OpenedStep& step, int firstLevel, int lastLevel)
    : Ranks(ranks), Step(step), Data(step.Data()), FirstLevel(firstLevel), LastLevel(lastLevel)
{
  for (const Patch& patch : this->Data.Patches) {
    this->Shown.push_back(patch.Level >= firstLevel && patch.Level <= lastLevel);
  }
}

bool PatchUpdate::Empty() const
{
  return !this->Shown.empty() && std::find(this->Shown.begin(), this->Shown.end(), true) == this->Shown.end();
}

std::vector<int> PatchUpdate::PatchesOfPiece(
    const std::vector<VariableRequest>& variables, int piece, int pieces) const
{
  std::vector<int> shown;
  std::vector<std::int64_t> weights;
  for (int p = 0; p < static_cast<int>(this->Shown.size()); ++p) {
    if (this->Shown[p]) {
      shown.push_back(p);
      weights.push_back(this->StoredValues(variables, p));
    }
  }
  const std::vector<int> parts = PartitionPatches(this->Data, shown, weights, pieces);
  std::vector<int> mine;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (parts[i] == piece) {
      mine.push_back(shown[i]);
    }
  }
  return mine;
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

void PatchUpdate::Locate(const LoadRequest& request)
{
  this->Fatal = FaultOf([&] {
    this->Request = request;
    const auto locate = [this](const std::vector<PatchVariable>& requests) {
      return this->Step.Locate(requests, this->Request.Threads);
    };
    this->Loader = std::make_unique<PatchLoader>(locate, this->Data, this->Request);
    this->Faults = this->Loader->Faults();
  });
}

void PatchUpdate::CheckMemory()
{
  CheckMemoryOfMachines(this->Ranks, this->Loader->BytesNeeded());
}

void PatchUpdate::Read(const ProgressCallback& progress)
{
  this->Fatal = FaultOf([&] {
    this->Loaded = this->Loader->Read(progress);
    this->Faults = this->Loaded.Faults;
    this->CheckCoordinates();
  });
}

void PatchUpdate::CheckCoordinates()
{
  const auto& variables = this->Request.Variables;
  const auto isCoordinates = [this](const VariableRequest& v) {
    return v.Variable == this->Data.CoordinatesVariable;
  };
  const auto coordinates = std::find_if(variables.begin(), variables.end(), isCoordinates);
  for (std::size_t p = 0; coordinates != variables.end() && p < this->Request.Patches.size(); ++p) {
    if (this->Loaded.At(p, coordinates - variables.begin()).Status == ArrayStatus::Absent) {
      const int patch = this->Request.Patches[p];
      const Error error = FileError(this->Data.Path, "node positions for patch " + std::to_string(patch),
          "none", "The dump is damaged");
      this->Faults.push_back({patch, coordinates->Variable, error.what()});
    }
  }
}

std::string PatchUpdate::AgreeOnFaults(bool skipBroken)
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
  std::sort(broken.begin(), broken.end());
  broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
  if (!fatal.empty()) {
    throw Error(JoinLines(fatal));
  }
  if (broken.empty()) {
    return {};
  }
  if (!skipBroken) {
    throw Error(
        "The dump is partly broken, so nothing is shown. Turn on 'Skip Broken Patches' to see the rest.\n" +
        JoinLines(texts));
  }
  for (const int patch : broken) {
    this->Shown[patch] = false;
  }
  return std::to_string(broken.size()) + " of " + std::to_string(this->Shown.size()) +
         " patches cannot be read and are left out.\n" + JoinLines(texts);
}

bool PatchUpdate::AnyCancelled() const
{
  const std::vector<int> flags = this->Ranks.AllGather(std::vector<int>{this->Loaded.Cancelled ? 1 : 0});
  return std::find(flags.begin(), flags.end(), 1) != flags.end();
}

void PatchUpdate::Assemble(vtkMultiBlockDataSet* output, const Int3& ghosts, bool blankRefined)
{
  const Stopwatch watch;
  const PatchAssembler assembler(this->Data, this->Shown, ghosts, blankRefined, this->Ranks.Rank());
  assembler.BuildTree(output, this->FirstLevel, this->LastLevel);
  for (std::size_t i = 0; i < this->Request.Patches.size(); ++i) {
    if (this->Shown[this->Request.Patches[i]]) {
      assembler.AddPatch(output, this->Request, this->Loaded, i);
    }
  }
  this->Loaded.Report.AssembleSeconds = watch.Seconds();
}

}  // namespace patchio
