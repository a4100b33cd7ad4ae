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
struct AgreedStep
{
  std::int64_t Number = 0;
  double Time = 0;
  std::uint64_t Declared = 0;  ///< checksum of Declaration::Lines()
};

/// A step from the call of Write() to the end of its write.
struct Output::Step
{
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const Declaration> What;
  std::vector<std::size_t> Channels;  ///< channels that write the step
  std::vector<bool> Wanted;           ///< per variable: whether one of the channels writes it
  std::vector<ArrayOfStep> Arrays;    ///< arrays of this rank, by variable and patch
  bool HasAll = true;                 ///< each patch of this rank has each variable
  std::string Fault;                  ///< reason why this rank cannot provide its values
  std::unique_ptr<std::byte[]> Copies;
  std::uint64_t BytesOfParts = 0;  ///< bytes of the parts that targets copy; see Target::TakesParts()

  /// Returns the bytes that CopyArrays() copies: all arrays, or only arrays with ghosts.
  std::uint64_t BytesToCopy(bool all) const;
  /// Copies arrays. If `all` is true, the simulation's arrays are not needed afterwards.
  void CopyArrays(bool all);
  /// Runs `work` unless there is a fault already. An Error of `work` becomes the fault.
  void TryTo(const std::function<void()>& work)
  {
    this->Fault = this->Fault.empty() ? CatchError(work) : this->Fault;
  }
  AgreedStep Head() const;
  /// Copies all arrays to `to`, one after another.
  void Pack(std::byte* to) const;
};

namespace {

/// Returns the numbers of the channel's variables. Throws Error if the simulation lacks one of them.
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

std::uint64_t Output::Step::BytesToCopy(bool all) const
{
  std::uint64_t bytes = 0;
  for (const ArrayOfStep& array : this->Arrays) {
    bytes += array.Whole && (all || this->What->HasGhosts(array.Variable))
                 ? this->What->RoomFor(array.Variable, array.Patch)
                 : 0;
  }
  return bytes;
}

void Output::Step::CopyArrays(bool all)
{
  this->Copies.reset(new std::byte[this->BytesToCopy(all)]);  // not initialized
  std::byte* next = this->Copies.get();
  for (ArrayOfStep& array : this->Arrays) {
    if (array.Whole && (all || this->What->HasGhosts(array.Variable))) {
      this->What->CopyInside(array.Variable, array.Patch, array.Values, next);
      array.Values = next;
      next += this->What->RoomFor(array.Variable, array.Patch);
    }
  }
}

void Output::Step::Pack(std::byte* to) const
{
  for (const ArrayOfStep& array : this->Arrays) {
    this->What->CopyInside(array.Variable, array.Patch, array.Values, to);
    to += this->What->RoomFor(array.Variable, array.Patch);
  }
}

AgreedStep Output::Step::Head() const
{
  const std::string text = JoinTexts(this->What->Lines());
  return {this->Number, this->Time, Checksum(text.data(), text.size())};
}

std::shared_ptr<Output::Step> Output::MakeStep(
    std::int64_t number, double time, const void* const* values) const
{
  auto step = std::make_shared<Step>();
  step->Number = number;
  step->Time = time;
  step->What = this->Declared;
  step->Wanted.resize(this->Declared->Variables().size());
  step->Channels = this->Writer->ChannelsFor(number);
  step->TryTo([&] { this->TakeArrays(*step, values); });
  return step;
}

/// Adds the simulation's arrays to the step. Throws Error for values that cannot be written; the caller must
/// inform all ranks of the Error.
void Output::TakeArrays(Step& step, const void* const* values) const
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
    throw Error(
        fmt::format("Step {} has no variables. Declare at least one with patchio_variable() before the step.",
            step.Number));
  }
  std::vector<bool>& wanted = step.Wanted;
  std::vector<bool> whole = wanted;
  for (const std::size_t channel : step.Channels) {
    const std::vector<int> variables = VariablesOf(this->Config.Channels[channel], data);
    Target& target = this->Writer->TargetOf(channel);
    step.BytesOfParts += target.BytesOf(this->Declared, variables.size());
    for (const int variable : variables) {
      wanted[variable] = true;
      whole[variable] = whole[variable] || !target.TakesParts();
    }
  }
  const std::vector<int>& mine = this->Declared->LocalPatches();
  const std::size_t arrays = wanted.size() * mine.size();
  if (!values && arrays > 0) {
    throw Error(
        fmt::format("Step {} has no list of arrays: the argument 'values' of patchio_write() is NULL. Pass "
                    "one pointer per variable and patch.",
            step.Number));
  }
  for (std::size_t i = 0; i < arrays; ++i) {
    const int variable = static_cast<int>(i / mine.size());
    if (wanted[variable] && values[i]) {
      step.Arrays.push_back({variable, mine[i % mine.size()], values[i], whole[variable], values[i]});
    }
    step.HasAll = step.HasAll && (!wanted[variable] || values[i]);
  }
  std::sort(step.Arrays.begin(), step.Arrays.end(), [](const ArrayOfStep& a, const ArrayOfStep& b) {
    return std::tie(a.Variable, a.Patch) < std::tie(b.Variable, b.Patch);
  });
}

/// Throws Error if the copies of a step exceed the memory limit.
void Output::CheckRoom(const Step& step, std::uint64_t bytes) const
{
  if (bytes > this->Config.Memory) {
    throw Error(
        fmt::format("Step {} needs {} on a rank for copies of values, but \"memory\" in the output "
                    "configuration is {}. Raise \"memory\".",
            step.Number, ByteText(static_cast<double>(bytes)),
            ByteText(static_cast<double>(this->Config.Memory))));
  }
}

/// Returns the encoded list of each rank's arrays of the step. If the step cannot be written, informs the
/// targets that the step is lost, and throws Error, the same on all ranks. Collective: every compute rank
/// calls it.
std::vector<std::string> Output::Agree(const Step& step)
{
  std::vector<std::string> lists;
  std::int64_t number = step.Number;
  const std::string fault = CatchError([&] { lists = this->Compare(step, number); });
  if (!fault.empty()) {
    this->Lose(number);
    throw Error(fault);
  }
  return lists;
}

/// Does the work of Agree(), but does not inform the targets. `number` receives the step number of rank 0, so
/// that all ranks lose the same step. Collective: every compute rank calls it.
std::vector<std::string> Output::Compare(const Step& step, std::int64_t& number) const
{
  const auto takesParts = [this](
                              std::size_t channel) { return this->Writer->TargetOf(channel).TakesParts(); };
  if (std::all_of(step.Channels.begin(), step.Channels.end(), takesParts)) {
    // Targets that take parts compare the steps of the ranks later, after gathering several.
    return std::vector<std::string>(this->Ranks->Size(), EncodeArrays({}, true));
  }
  const std::string mine = TextOfValues(std::vector{step.Head()});
  std::vector<std::string> lists = this->Ranks->AllGather(
      mine + (step.Fault.empty() ? EncodeArrays(step.Arrays, step.HasAll) : EncodeFault(step.Fault)));
  number = ValuesInTexts<AgreedStep>({lists[0].substr(0, mine.size())}).at(0).Number;
  bool alike = true;
  for (const std::string& one : lists) {
    alike = alike && one.compare(0, mine.size(), lists[0], 0, mine.size()) == 0;
  }
  for (std::string& one : lists) {
    one = one.substr(mine.size());
    ThrowFaultIn(one);
  }
  if (!alike) {
    CheckSameOnAllRanks(*this->Ranks, {{step.Number, step.Time}}, *step.What);
  }
  return lists;
}

namespace {

/// Returns the catalog with only these variables.
Catalog WithVariables(Catalog data, const std::vector<int>& variables)
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

/// Makes the paths of all channels absolute, because the simulation may change its current folder.
OutputConfig WithAbsolutePaths(OutputConfig config)
{
  for (Channel& channel : config.Channels) {
    channel.Path = std::filesystem::absolute(channel.Path).string();
  }
  return config;
}

}  // namespace

Output::Output(const OutputConfig& config, MPI_Comm comm) : Config(WithAbsolutePaths(config)), Given(comm)
{
  this->Ranks = std::make_unique<BoundedCommunicator>(comm, config.WaitSeconds, "patchio_open");
  CheckAlike(config, *this->Ranks);
  if (config.How == Mode::Ranks) {
    this->Roles = std::make_unique<IoRoles>(*this->Ranks, comm, config);
    this->Ranks =
        std::make_unique<BoundedCommunicator>(this->Roles->OfSameRole(), config.WaitSeconds, "patchio_open");
  }
  const bool asynchronous = this->Roles ? !this->Roles->Computes() : config.How == Mode::Thread;
  this->Writer = std::make_unique<ChannelOutput>(this->Config, *this->Ranks, asynchronous);
  this->CheckPlaces();
  // MPI_Finalize() runs its callbacks in reverse order. H5open() registers HDF5 now, so that HDF5 ends after
  // open outputs have been closed.
  H5open();
}

Output::~Output()
{
  if (this->Roles && this->Ranks->IsBroken()) {
    this->Roles->Keep();
  }
}

/// Throws Error if no file can be written at a channel's path. Otherwise, the run would fail at its first
/// step, which may be hours later.
void Output::CheckPlaces() const
{
  const bool computes = this->Roles && this->Roles->Computes();
  for (const Channel& channel : this->Config.Channels) {
    if (this->Ranks->Rank() == 0 && !computes) {
      CheckPlace(channel.Path);
    }
  }
}

MPI_Comm Output::Compute()
{
  if (!this->Roles) {
    return this->Given;
  }
  if (this->Roles->Computes()) {
    if (!this->Sender) {
      this->Sender = std::make_unique<StepSender>(*this->Roles, *this->Ranks, this->Config);
    }
    return this->Roles->OfSameRole();
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
            ? "This is an I/O rank, which has no data of its own. Call patchio_write() on compute ranks only."
            : "The mode \"ranks\" needs patchio_compute() to separate compute and I/O ranks, but the "
              "simulation does not call it. Call patchio_compute(), or choose another \"mode\" in the output "
              "configuration.");
  }
}

std::uint64_t Output::PeakMemory() const
{
  return this->Sender     ? this->Sender->Peak()
         : this->Receiver ? this->Receiver->Peak()
                          : this->Writer->Thread().Peak();
}

/// Returns a copy of the declaration for changes. Steps in progress keep the earlier declaration.
Declaration& Output::Change()
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
  this->Change().SetGrid(dimension, origin, spacing, ratios);
}

void Output::SetPatches(const std::vector<DeclaredPatch>& patches, const std::string& fault)
{
  this->CheckIsComputeRank();
  this->Ranks->Enter("patchio_patches");
  RunOnAllRanks(*this->Ranks, [&] {
    if (!fault.empty()) {
      throw Error(fault);
    }
    this->Declared->CheckGrid();
  });
  this->Change().SetPatches(*this->Ranks, patches);
}

void Output::AddVariable(const DeclaredVariable& variable)
{
  this->Change().AddVariable(variable);
}

bool Output::Wants(std::int64_t step) const
{
  return !this->Writer->ChannelsFor(step).empty();
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

/// Writes a step on this rank. A writing thread gets a copy of the values. If the copy would exceed the
/// memory limit, writes the simulation's own arrays, and waits for the write.
void Output::WriteStep(const std::shared_ptr<Step>& step)
{
  WritingThread& thread = this->Writer->Thread();
  const std::uint64_t ofParts = thread.IsAsynchronous() ? step->BytesOfParts : 0;
  const bool all = thread.IsAsynchronous() && step->BytesToCopy(true) + ofParts <= this->Config.Memory;
  const std::uint64_t bytes = step->BytesToCopy(all) + ofParts;
  step->TryTo([&] {
    this->CheckRoom(*step, bytes);
    thread.MakeRoom(bytes);
    step->CopyArrays(all);
  });
  const std::vector<std::string> lists = this->Agree(*step);
  this->Writer->WriteParts(step->Number, this->Prepare(step, lists), bytes);
  if (!all) {
    thread.FinishInAnyTime();
  }
}

/// Sends the step to the I/O ranks, with the list of each compute rank's arrays.
void Output::SendStep(Step& step)
{
  const std::uint64_t bytes = step.BytesToCopy(true);
  step.TryTo([&] { this->Sender->MakeRoom(bytes); });
  Command command;
  command.Lists = this->Agree(step);
  command.Code = CodeOf(step.What->Names(), step.Wanted);
  command.Step = step.Number;
  command.Time = step.Time;
  this->Sender->Send(std::move(command), step.What, bytes, [&](std::byte* to) { step.Pack(to); });
}

/// Informs the targets of this rank, or the I/O ranks, that a step is lost.
void Output::Lose(std::int64_t step)
{
  this->Sender ? this->Sender->Lose(step) : this->Writer->Lose(step, this->Writer->ChannelsFor(step));
}

void Output::WriteReceived(const std::shared_ptr<ReceivedStep>& received)
{
  for (const std::int64_t lost : received->What.Lost) {
    this->Lose(lost);
  }
  const auto step = std::make_shared<Step>();
  step->Number = received->What.Step;
  step->Time = received->What.Time;
  step->What = received->Declared;
  step->Wanted = received->Wanted;
  step->Arrays = received->Arrays;
  step->Channels = this->Writer->ChannelsFor(step->Number);
  this->Writer->WriteParts(
      step->Number, this->Prepare(step, received->What.Lists, received->Map), received->Bytes);
  this->Writer->Thread().Add(0, [this, received] {
    received->Buffers.clear();
    this->Receiver->Done(this->Writer->Thread().TakeFaults());
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
    } else if (this->Roles && !this->Receiver && !this->Roles->Computes()) {
      throw Error("This I/O rank has written nothing, because it did not call patchio_compute().");
    }
  });
  ThrowFaults({fault, end, this->TakeFaults()});
}

/// Writes all steps. `closes`: true if each rank waits for its own steps even after ranks have given up
/// waiting for each other. Collective: every compute rank calls it.
void Output::FinishSteps(const std::string& call, bool closes)
{
  const std::string apart = CatchError([&] {
    this->Ranks->Enter(call);
    this->Ranks->Synchronize();
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

/// Prepares the parts of a step. `lists`: the encoded list of arrays of each compute rank. `map`: the I/O
/// rank of each compute rank; empty if the compute ranks write.
std::vector<StepPart> Output::Prepare(
    const std::shared_ptr<Step>& given, const std::vector<std::string>& lists, const std::vector<int>& map)
{
  const Step& step = *given;
  Catalog data = step.What->Data();
  data.Step = step.Number;
  data.Time = step.Time;
  data.ResetPresence();
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    for (const ArrayOfStep& array :
        DecodeArrays(lists[rank], static_cast<int>(rank), *step.What, step.Wanted)) {
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
    part.Values.Holder = given;
    part.Fault = CatchError(
        [&] { this->PreparePart(step, channel == step.Channels.back() ? std::move(data) : data, part); });
  }
  return parts;
}

/// Prepares the part of one channel, with its variables.
void Output::PreparePart(const Step& step, Catalog data, StepPart& part)
{
  Target& target = this->Writer->TargetOf(part.Channel);
  const std::vector<int> variables = VariablesOf(this->Config.Channels[part.Channel], data);
  std::vector<int> places(data.Variables.size(), -1);
  container::StepToWrite wanted;
  for (const int variable : variables) {
    places[variable] = static_cast<int>(wanted.Types.size());
    wanted.Types.push_back(step.What->Variables()[variable].Type);
  }
  wanted.Data = WithVariables(std::move(data), variables);
  GivenArrays given{step.What, {}, step.Fault};
  for (const ArrayOfStep& array : step.Arrays) {
    if (places[array.Variable] >= 0 && target.TakesParts()) {
      given.Arrays.push_back(
          {array.Patch, places[array.Variable], array.Given, step.What->Variables()[array.Variable].Ghosts});
    } else if (places[array.Variable] >= 0) {
      part.Values.Arrays.push_back({array.Patch, places[array.Variable], array.Values});
    }
  }
  part.Writes = target.Prepare(std::move(wanted), given);
}

}  // namespace patchio::output
