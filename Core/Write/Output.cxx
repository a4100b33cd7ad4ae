#include "Write/Output.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Write/OutputConfig.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::output {

/// The data of a step that must be the same on all ranks.
struct StepIdentity
{
  std::int64_t Number = 0;
  double Time = 0;
  std::uint64_t DeclarationChecksum = 0;  ///< checksum of Declaration::Lines()
};

/// A step from the call of Write() to the end of its write.
struct Output::Step
{
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const Declaration> Declared;
  std::vector<std::size_t> Channels;  ///< channels that write the step
  std::vector<bool> Selected;  ///< one flag per variable: whether one of the channels writes the variable
  std::vector<ArrayOfStep> Arrays;  ///< arrays of this rank, by variable and patch
  bool HasAll = true;               ///< true: each patch of this rank has each selected variable
  std::string Fault;                ///< reason why this rank cannot provide values; empty: no fault
  std::unique_ptr<std::byte[]> Copies;
  std::uint64_t BytesOfParts = 0;  ///< bytes of the parts that targets copy; see Target::CopiesParts()

  /// Returns the number of bytes that CopyArrays(allArrays) allocates.
  std::uint64_t BytesToCopy(bool allArrays) const;
  /// Copies arrays that targets need whole, without ghosts. `allArrays`: true to copy all these arrays, so
  /// that the simulation may change its arrays; false to copy only the arrays with ghosts.
  void CopyArrays(bool allArrays);
  /// Runs `work` unless Fault is set. Stores the message of an Error of `work` in Fault.
  void TryTo(const std::function<void()>& work)
  {
    this->Fault = this->Fault.empty() ? CatchError(work) : this->Fault;
  }
  StepIdentity Identity() const;
  /// Copies all arrays, without ghosts, to `to`, one after another, with Declaration::AlignedBytesOf() bytes
  /// for each array.
  void Pack(std::byte* to) const;
};

namespace {

/// Returns the indices in `data` of the channel's variables. Throws Error if the simulation has not declared
/// a variable of the channel.
std::vector<int> VariablesOf(const Channel& channel, const Catalog& data)
{
  std::vector<int> variables;
  for (const std::string& name : channel.Variables) {
    variables.push_back(data.FindVariable(name));
    if (variables.back() < 0) {
      throw Error(
          fmt::format("Channel '{}' selects the variable '{}', which the simulation does not declare. "
                      "Correct \"variables\" in the output configuration.",
              channel.Name, PlainText(name)));
    }
  }
  if (variables.empty()) {
    variables.resize(data.Variables.size());
    std::iota(variables.begin(), variables.end(), 0);
  }
  return variables;
}

}  // namespace

std::uint64_t Output::Step::BytesToCopy(bool allArrays) const
{
  std::uint64_t bytes = 0;
  for (const ArrayOfStep& array : this->Arrays) {
    bytes += array.IsNeededWhole && (allArrays || this->Declared->HasGhosts(array.Variable))
                 ? this->Declared->AlignedBytesOf(array.Variable, array.Patch)
                 : 0;
  }
  return bytes;
}

void Output::Step::CopyArrays(bool allArrays)
{
  this->Copies.reset(new std::byte[this->BytesToCopy(allArrays)]);  // not initialized
  std::byte* next = this->Copies.get();
  for (ArrayOfStep& array : this->Arrays) {
    if (array.IsNeededWhole && (allArrays || this->Declared->HasGhosts(array.Variable))) {
      this->Declared->CopyWithoutGhosts(array.Variable, array.Patch, array.Values, next);
      array.Values = next;
      next += this->Declared->AlignedBytesOf(array.Variable, array.Patch);
    }
  }
}

void Output::Step::Pack(std::byte* to) const
{
  for (const ArrayOfStep& array : this->Arrays) {
    this->Declared->CopyWithoutGhosts(array.Variable, array.Patch, array.Values, to);
    to += this->Declared->AlignedBytesOf(array.Variable, array.Patch);
  }
}

StepIdentity Output::Step::Identity() const
{
  const std::string text = JoinTexts(this->Declared->Lines());
  return {this->Number, this->Time, Checksum(text.data(), text.size())};
}

std::shared_ptr<Output::Step> Output::MakeStep(
    std::int64_t number, double time, const void* const* values) const
{
  auto step = std::make_shared<Step>();
  step->Number = number;
  step->Time = time;
  step->Declared = this->Declared;
  step->Selected.resize(this->Declared->Variables().size());
  step->Channels = this->Writer->ChannelsFor(number);
  step->TryTo([&] { this->AddArrays(*step, values); });
  return step;
}

/// Sets the arrays and the selected variables of the step. Throws Error, on this rank alone, if the step
/// cannot be written; the caller must inform the other ranks.
void Output::AddArrays(Step& step, const void* const* values) const
{
  const Catalog& data = this->Declared->Data();
  if (!this->FailedCalls.empty()) {
    const auto& [call, fault] = *this->FailedCalls.begin();
    throw Error(
        fmt::format("PatchIO does not write step {}, because {}() failed: {}", step.Number, call, fault));
  }
  if (!std::isfinite(step.Time)) {
    throw Error(fmt::format("Step {} has the time {}: expected a finite number.", step.Number, step.Time));
  }
  if (data.Patches.empty()) {
    throw Error(fmt::format(
        "Step {} has no patches. Declare patches before the step, and again after each change of the grid.",
        step.Number));
  }
  if (data.Variables.empty()) {
    throw Error(fmt::format(
        "Step {} has no variables. Declare at least one variable with patchio_variable() before the step.",
        step.Number));
  }
  std::vector<bool>& selected = step.Selected;
  std::vector<bool> whole = selected;
  for (const std::size_t channel : step.Channels) {
    const std::vector<int> variables = VariablesOf(this->Config.Channels[channel], data);
    Target& target = this->Writer->TargetOf(channel);
    step.BytesOfParts += target.BytesOf(this->Declared, variables.size());
    for (const int variable : variables) {
      selected[variable] = true;
      whole[variable] = whole[variable] || !target.CopiesParts();
    }
  }
  const std::vector<int>& mine = this->Declared->LocalPatches();
  const std::size_t arrays = selected.size() * mine.size();
  if (!values && arrays > 0) {
    throw Error(
        fmt::format("Step {} has no list of arrays: the argument 'values' of patchio_write() is NULL. Pass "
                    "one pointer per variable and patch.",
            step.Number));
  }
  for (std::size_t i = 0; i < arrays; ++i) {
    const int variable = static_cast<int>(i / mine.size());
    if (selected[variable] && values[i]) {
      step.Arrays.push_back({variable, mine[i % mine.size()], values[i], whole[variable], values[i]});
    }
    step.HasAll = step.HasAll && (!selected[variable] || values[i]);
  }
  std::sort(step.Arrays.begin(), step.Arrays.end(), [](const ArrayOfStep& a, const ArrayOfStep& b) {
    return std::tie(a.Variable, a.Patch) < std::tie(b.Variable, b.Patch);
  });
}

/// Throws Error if the copies of a step exceed the memory limit. `bytes`: size of the copies on this rank.
void Output::CheckMemory(const Step& step, std::uint64_t bytes) const
{
  if (bytes > this->Config.Memory) {
    throw Error(
        fmt::format("Step {} needs {} on a rank for copies of values, but \"memory\" in the output "
                    "configuration allows {}. Raise \"memory\".",
            step.Number, ByteText(static_cast<double>(bytes)),
            ByteText(static_cast<double>(this->Config.Memory))));
  }
}

/// Gathers the encoded lists of the arrays of all ranks. If the steps of the ranks differ or a rank has a
/// fault, informs the targets that the step is lost, and throws Error, the same on all ranks. If all targets
/// copy parts, does not communicate, and returns lists with all arrays. Collective: every compute rank calls
/// it.
std::vector<std::string> Output::GatherArrayLists(const Step& step)
{
  const auto copiesParts = [this](
                               std::size_t channel) { return this->Writer->TargetOf(channel).CopiesParts(); };
  if (std::all_of(step.Channels.begin(), step.Channels.end(), copiesParts)) {
    // Targets that copy parts compare the steps of the ranks later, after gathering several steps.
    return std::vector<std::string>(this->Ranks->Size(), EncodeArrays({}, true));
  }
  std::vector<std::string> lists;
  std::int64_t number = step.Number;  // from rank 0, so that all ranks mark the same step as lost
  const std::string fault = CatchError([&] {
    const std::string mine = PackValues(std::vector{step.Identity()});
    lists = this->Ranks->AllGather(
        mine + (step.Fault.empty() ? EncodeArrays(step.Arrays, step.HasAll) : EncodeFault(step.Fault)));
    number = UnpackValues<StepIdentity>({lists[0].substr(0, mine.size())}).at(0).Number;
    bool alike = true;
    for (const std::string& one : lists) {
      alike = alike && one.compare(0, mine.size(), lists[0], 0, mine.size()) == 0;
    }
    for (std::string& one : lists) {
      one = one.substr(mine.size());
      ThrowIfFault(one);
    }
    if (!alike) {
      CheckSameOnAllRanks(*this->Ranks, {{step.Number, step.Time}}, *step.Declared);
    }
  });
  if (!fault.empty()) {
    this->MarkLost(number);
    throw Error(fault);
  }
  return lists;
}

namespace {

/// Returns the catalog with only the variables whose indices are in `variables`.
Catalog SelectVariables(Catalog data, const std::vector<int>& variables)
{
  const auto patches = static_cast<int>(data.Patches.size());
  std::vector<Variable> kept;
  std::vector<Presence> presence;
  for (const int variable : variables) {
    kept.push_back(data.Variables[variable]);
    for (int p = 0; p < patches; ++p) {
      presence.push_back(data.PresenceOf(variable, p));
    }
  }
  data.Variables = std::move(kept);
  data.ResetPresence();
  for (std::size_t i = 0; i < presence.size(); ++i) {
    data.SetPresence(static_cast<int>(i / patches), static_cast<int>(i % patches), presence[i]);
  }
  return data;
}

/// Returns the configuration with absolute paths of all channels, because the simulation may change its
/// current folder.
OutputConfig WithAbsolutePaths(OutputConfig config)
{
  for (Channel& channel : config.Channels) {
    channel.Path = std::filesystem::absolute(channel.Path).string();
  }
  return config;
}

}  // namespace

Output::Output(const OutputConfig& config, MPI_Comm comm) : Config(WithAbsolutePaths(config)), UserComm(comm)
{
  this->Ranks = std::make_unique<BoundedCommunicator>(comm, config.WaitSeconds, "patchio_open");
  CheckSameConfig(config, *this->Ranks);
  if (config.WriteMode == Mode::Ranks) {
    this->Roles = std::make_unique<IoRoles>(*this->Ranks, comm, config);
    this->Ranks = std::make_unique<BoundedCommunicator>(
        this->Roles->RoleCommunicator(), config.WaitSeconds, "patchio_open");
  }
  const bool asynchronous = this->Roles ? !this->Roles->IsComputeRank() : config.WriteMode == Mode::Thread;
  this->Writer = std::make_unique<ChannelOutput>(this->Config, *this->Ranks, asynchronous);
  this->CheckChannelPaths();
  // MPI_Finalize() runs its callbacks in reverse order. H5open() registers HDF5 now, so that HDF5 ends after
  // open outputs have been closed.
  H5open();
}

Output::~Output()
{
  if (this->Roles && this->Ranks->IsBroken()) {
    this->Roles->LeakCommunicators();
  }
}

/// Throws Error if a channel's path is not writable. Without this check, the run would fail at the first
/// step, which may be hours later. Not collective; only rank 0 of the writing ranks checks the paths.
void Output::CheckChannelPaths() const
{
  const bool computes = this->Roles && this->Roles->IsComputeRank();
  for (const Channel& channel : this->Config.Channels) {
    if (this->Ranks->Rank() == 0 && !computes) {
      MakeWritableFolder(channel.Path);
    }
  }
}

MPI_Comm Output::SeparateRanks()
{
  if (!this->Roles) {
    return this->UserComm;
  }
  if (this->Roles->IsComputeRank()) {
    if (!this->Sender) {
      this->Sender = std::make_unique<StepSender>(*this->Roles, *this->Ranks, this->Config);
    }
    return this->Roles->RoleCommunicator();
  }
  if (!this->Receiver) {
    this->Receiver = std::make_unique<StepReceiver>(*this->Roles, this->Ranks->Rank(), this->Config);
    if (this->Receiver->Serve([this](const auto& received) { this->WriteReceived(received); })) {
      this->Writer->Thread().Finish();
      this->Writer->Close();
    }
    this->Receiver->End();
  }
  return MPI_COMM_NULL;
}

void Output::CheckIsComputeRank() const
{
  if (this->Roles && !this->Sender) {
    throw Error(
        this->Receiver
            ? "This is an I/O rank, which has no data of its own. Make this call on compute ranks only."
            : "The mode \"ranks\" needs patchio_compute() to separate compute and I/O ranks, but the "
              "simulation has not called it. Call patchio_compute() first, or choose another \"mode\" in the "
              "output configuration.");
  }
}

std::uint64_t Output::PeakMemory() const
{
  return this->Sender     ? this->Sender->PeakMemory()
         : this->Receiver ? this->Receiver->PeakMemory()
                          : this->Writer->Thread().PeakMemory();
}

/// Replaces the current declaration by a copy, and returns the copy for changes. Steps in progress use the
/// earlier declaration.
Declaration& Output::NewDeclaration()
{
  this->CheckIsComputeRank();
  auto changed = std::make_shared<Declaration>(*this->Declared);
  this->Declared = changed;
  return *changed;
}

void Output::Declare(const std::string& call, bool replaces, const std::function<void()>& work)
{
  const std::string fault = CatchError(work);
  if (!fault.empty()) {
    this->FailedCalls.try_emplace(call, fault);
    throw Error(fault);
  }
  if (replaces) {
    this->FailedCalls.erase(call);
  }
}

void Output::SetGrid(
    int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios)
{
  this->NewDeclaration().SetGrid(dimension, origin, spacing, ratios);
}

void Output::SetPatches(const std::vector<DeclaredPatch>& patches, const std::string& fault)
{
  this->CheckIsComputeRank();
  this->Ranks->Enter("patchio_patches");
  RunOnAllRanks(*this->Ranks, [&] {
    ThrowFault(fault);
    this->Declared->CheckGrid();
  });
  this->NewDeclaration().SetPatches(*this->Ranks, patches);
}

void Output::AddVariable(const DeclaredVariable& variable)
{
  this->NewDeclaration().AddVariable(variable);
}

void Output::Write(std::int64_t number, double time, const void* const* values)
{
  this->CheckIsComputeRank();
  this->Ranks->Enter("patchio_write", fmt::format("step {}", number));
  if (number < 0) {
    throw Error(fmt::format("Step numbers must be 0 or more, not {}.", number));
  }
  const std::shared_ptr<Step> step = this->MakeStep(number, time, values);
  if (!step->Channels.empty()) {
    this->Sender ? this->SendStep(*step) : this->WriteStep(step);
  }
  ThrowFaults({this->TakeFaults()});
}

std::string Output::TakeFaults()
{
  return this->Sender ? this->Sender->TakeFaults() : this->Writer->Thread().TakeFaults();
}

/// Writes a step without I/O ranks. A writing thread gets a copy of the values. If the copy would exceed the
/// memory limit, the thread writes the simulation's own arrays, and this method waits for the write.
/// Collective: every compute rank calls it.
void Output::WriteStep(const std::shared_ptr<Step>& step)
{
  WritingThread& thread = this->Writer->Thread();
  const std::uint64_t ofParts = thread.IsAsynchronous() ? step->BytesOfParts : 0;
  const bool allArrays = thread.IsAsynchronous() && step->BytesToCopy(true) + ofParts <= this->Config.Memory;
  const std::uint64_t bytes = step->BytesToCopy(allArrays) + ofParts;
  step->TryTo([&] {
    this->CheckMemory(*step, bytes);
    thread.WaitForMemory(bytes);
    step->CopyArrays(allArrays);
  });
  const std::vector<std::string> lists = this->GatherArrayLists(*step);
  this->Writer->WriteParts(step->Number, this->Prepare(step, lists), bytes);
  if (!allArrays) {
    thread.FinishWithoutLimit();
  }
}

/// Sends the step to the I/O ranks, with the list of each compute rank's arrays. Collective: every compute
/// rank calls it.
void Output::SendStep(Step& step)
{
  const std::uint64_t bytes = step.BytesToCopy(true);
  step.TryTo([&] { this->Sender->WaitForMemory(bytes); });
  Command command;
  command.Lists = this->GatherArrayLists(step);
  command.Code = CodeOf(step.Declared->Names(), step.Selected);
  command.Step = step.Number;
  command.Time = step.Time;
  this->Sender->Send(std::move(command), step.Declared, bytes, [&](std::byte* to) { step.Pack(to); });
}

/// Informs the targets of this rank that a step is lost. With Mode::Ranks, a compute rank informs the I/O
/// ranks instead.
void Output::MarkLost(std::int64_t step)
{
  this->Sender ? this->Sender->MarkLost(step) : this->Writer->MarkLost(step, this->Writer->ChannelsFor(step));
}

void Output::WriteReceived(const std::shared_ptr<ReceivedStep>& received)
{
  for (const std::int64_t lost : received->StepCommand.Lost) {
    this->MarkLost(lost);
  }
  const auto step = std::make_shared<Step>();
  step->Number = received->StepCommand.Step;
  step->Time = received->StepCommand.Time;
  step->Declared = received->Declared;
  step->Selected = received->Selected;
  step->Arrays = received->Arrays;
  step->Channels = this->Writer->ChannelsFor(step->Number);
  this->Writer->WriteParts(
      step->Number, this->Prepare(step, received->StepCommand.Lists, received->Map), received->Bytes);
  this->Writer->Thread().Add(0, [this, received] {
    received->Buffers.clear();
    this->Receiver->MarkWritten(this->Writer->Thread().TakeFaults());
  });
}

void Output::Flush()
{
  this->FinishSteps("patchio_flush", false);
}

void Output::Close(const std::string& call)
{
  const std::string fault = CatchError([&] { this->FinishSteps(call, true); });
  const std::string end = CatchError([this] {
    if (this->Sender) {
      this->Sender->End();
    } else if (this->Roles && !this->Receiver && !this->Roles->IsComputeRank()) {
      throw Error("This I/O rank has written nothing, because it did not call patchio_compute().");
    }
  });
  ThrowFaults({fault, end, this->TakeFaults()});
}

/// Writes all steps. `call`: see Close(). `closes`: true if each rank waits for its own steps even after
/// ranks have given up waiting for each other. Collective: every rank of Ranks calls it.
void Output::FinishSteps(const std::string& call, bool closes)
{
  const std::string apart = CatchError([&] {
    this->Ranks->Enter(call);
    this->Ranks->Barrier();
  });
  const std::string fault = CatchError([&] {
    if (!apart.empty() && !closes) {
      return;
    }
    if (this->Sender) {
      this->Sender->Finish();
      return;
    }
    if (apart.empty()) {
      this->Writer->Flush();
    }
    this->Writer->Thread().Finish();
  });
  ThrowFaults({apart, fault, this->TakeFaults()});
}

/// Prepares the parts of a step for the channels. `owner`: the step; owns the memory of the values. `lists`:
/// the encoded list of arrays of each compute rank. `map`: the I/O rank of each compute rank; empty if the
/// compute ranks write.
std::vector<StepPart> Output::Prepare(
    const std::shared_ptr<Step>& owner, const std::vector<std::string>& lists, const std::vector<int>& map)
{
  const Step& step = *owner;
  Catalog data = step.Declared->Data();
  data.Step = step.Number;
  data.Time = step.Time;
  data.ResetPresence();
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    for (const ArrayOfStep& array :
        DecodeArrays(lists[rank], static_cast<int>(rank), *step.Declared, step.Selected)) {
      data.SetPresence(array.Variable, array.Patch, Presence::Stored);
    }
  }
  for (Patch& patch : data.Patches) {
    patch.Writer = map.empty() ? patch.Writer : map[patch.Writer];
  }
  std::vector<StepPart> parts;
  for (const std::size_t channel : step.Channels) {
    StepPart& part = parts.emplace_back();
    part.Channel = channel;
    part.Values.Holder = owner;
    part.Fault = CatchError(
        [&] { this->PreparePart(step, channel == step.Channels.back() ? std::move(data) : data, part); });
  }
  return parts;
}

/// Prepares the part of the step that goes to the channel part.Channel. `data`: catalog of the step.
void Output::PreparePart(const Step& step, Catalog data, StepPart& part)
{
  Target& target = this->Writer->TargetOf(part.Channel);
  const std::vector<int> variables =
      step.Fault.empty() ? VariablesOf(this->Config.Channels[part.Channel], data) : std::vector<int>();
  std::vector<int> positions(data.Variables.size(), -1);
  container::StepToWrite stepToWrite;
  for (const int variable : variables) {
    positions[variable] = static_cast<int>(stepToWrite.Types.size());
    stepToWrite.Types.push_back(step.Declared->Variables()[variable].Type);
  }
  stepToWrite.Data = SelectVariables(std::move(data), variables);
  SimulationArrays source{step.Declared, {}, step.Fault};
  for (const ArrayOfStep& array : step.Arrays) {
    if (positions[array.Variable] >= 0 && target.CopiesParts()) {
      source.Arrays.push_back({array.Patch, positions[array.Variable], array.Original,
          step.Declared->Variables()[array.Variable].Ghosts});
    } else if (positions[array.Variable] >= 0) {
      part.Values.Arrays.push_back({array.Patch, positions[array.Variable], array.Values});
    }
  }
  part.Write = target.Prepare(std::move(stepToWrite), source);
}

}  // namespace patchio::output
