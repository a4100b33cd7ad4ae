#include "Write/Output.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Write/ArraysOfStep.h"
#include "Write/OutputConfig.h"
#include "Write/SocketCommunicator.h"

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

/// Must be alike on all ranks.
struct StepHead
{
  std::int64_t Number = 0;
  double Time = 0;
  std::uint64_t Declared = 0;  ///< a checksum of Declaration::Lines()
};

/// What a sink gets of a step.
struct Output::Part
{
  std::size_t Sink = 0;
  std::unique_ptr<StepOnItsWay> To;
  std::vector<container::PatchValues> Mine;
  std::string Fault;  ///< why this rank could not prepare it
};

/// What a call of Write() leaves for those that write.
struct Output::Step
{
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const Declaration> What;
  std::vector<std::size_t> Sinks;   ///< that want it
  std::vector<bool> Wanted;         ///< of each variable, by one of them
  std::vector<ArrayOfStep> Arrays;  ///< that there are of this rank, by variable and patch
  bool HasAll = true;               ///< nothing lacks on its patches
  std::string Fault;                ///< why this rank cannot give its values
  std::unique_ptr<std::byte[]> Copies;
  std::uint64_t BytesOfParts = 0;  ///< that sinks copy by themselves

  std::vector<Part> Parts;

  /// Bytes of the arrays that CopyArrays() copies: all of them, or those that have ghosts.
  std::uint64_t BytesToCopy(bool all) const;
  /// From now on the simulation's arrays are not needed any more, if `all`.
  void CopyArrays(bool all);
  /// Unless there was a fault before; keeps what it throws.
  void TryTo(const std::function<void()>& work)
  {
    this->Fault = this->Fault.empty() ? CatchError(work) : this->Fault;
  }
  StepHead Head() const;
  /// Copies all arrays one after another.
  void Pack(std::byte* to) const;
};

namespace {

/// The variables of a channel, by number. Throws Error where the simulation lacks one.
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
  this->Copies.reset(new std::byte[this->BytesToCopy(all)]);  // not set to 0 first
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

StepHead Output::Step::Head() const
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
  step->Sinks = this->SinksFor(number);
  step->TryTo([&] { this->TakeArrays(*step, values); });
  return step;
}

/// Throws Error for what cannot be written, which all ranks must know.
void Output::TakeArrays(Step& step, const void* const* values) const
{
  const Catalog& data = this->Declared->Data();
  if (!this->FailedCalls.empty()) {
    const auto& [call, fault] = *this->FailedCalls.begin();
    throw Error(
        fmt::format("Step {} is refused, because {}() failed before it: {}", step.Number, call, fault));
  }
  if (!std::isfinite(step.Time)) {
    throw Error(fmt::format("Step {} has the time {}: expected a finite number.", step.Number, step.Time));
  }
  if (data.Patches.empty()) {
    throw Error(fmt::format(
        "Step {} has no patches. Declare them before the step, and again after each change of the grid.",
        step.Number));
  }
  if (data.Variables.empty()) {
    throw Error(
        fmt::format("Step {} has no variables. Declare at least one with patchio_variable() before the step.",
            step.Number));
  }
  std::vector<bool>& wanted = step.Wanted;
  std::vector<bool> whole = wanted;
  for (const std::size_t sink : step.Sinks) {
    const std::vector<int> variables = VariablesOf(this->Sinks[sink].What, data);
    PartsTarget* const parts = this->Sinks[sink].To->OfParts();
    step.BytesOfParts += parts ? parts->BytesOf(this->Declared, variables.size()) : 0;
    for (const int variable : variables) {
      wanted[variable] = true;
      whole[variable] = whole[variable] || !parts;
    }
  }
  const std::vector<int>& mine = this->Declared->Mine();
  const std::size_t arrays = wanted.size() * mine.size();
  if (!values && arrays > 0) {
    throw Error(fmt::format(
        "Step {} has no list of arrays: patchio_write() was given NULL for the values.", step.Number));
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

/// Throws Error when a step has no room for the arrays that it copies.
void Output::CheckRoom(const Step& step, std::uint64_t bytes) const
{
  if (bytes > this->Config.Memory) {
    throw Error(
        fmt::format("Step {} needs {} on a rank for copies of values, but \"memory\" in the output "
                    "configuration is {}. Raise it.",
            step.Number, ByteText(static_cast<double>(bytes)),
            ByteText(static_cast<double>(this->Config.Memory))));
  }
}

/// Collective: returns which arrays of the step each rank has. Throws Error, the same on all ranks, if the
/// step cannot be written; the targets then know that it is lost.
std::vector<std::string> Output::Agree(const Step& step)
{
  std::vector<std::string> told;
  std::int64_t number = step.Number;
  const std::string fault = CatchError([&] { told = this->Compare(step, number); });
  if (!fault.empty()) {
    this->Lose(number);
    throw Error(fault);
  }
  return told;
}

/// The same without telling the targets. number: set to the step number of rank 0, so that all ranks lose the
/// same step.
std::vector<std::string> Output::Compare(const Step& step, std::int64_t& number) const
{
  const auto takesParts = [this](std::size_t sink) { return this->Sinks[sink].To->OfParts() != nullptr; };
  if (std::all_of(step.Sinks.begin(), step.Sinks.end(), takesParts)) {
    // Targets that take parts compare the steps of the ranks later, when they have gathered steps.
    return std::vector<std::string>(this->Ranks->Size(), TellArrays({}, true));
  }
  const std::string mine = TextOfValues(std::vector{step.Head()});
  std::vector<std::string> told = this->Ranks->AllGather(
      mine + (step.Fault.empty() ? TellArrays(step.Arrays, step.HasAll) : TellFault(step.Fault)));
  number = ValuesInTexts<StepHead>({told[0].substr(0, mine.size())}).at(0).Number;
  bool alike = true;
  for (const std::string& one : told) {
    alike = alike && one.compare(0, mine.size(), told[0], 0, mine.size()) == 0;
  }
  for (std::string& one : told) {
    one = one.substr(mine.size());
    CheckTold(one);
  }
  if (!alike) {
    CheckSameOnAllRanks(*this->Ranks, {{step.Number, step.Time}}, *step.What);
  }
  return told;
}

namespace {

/// The catalog with these of its variables.
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

/// Throws Error where there are some.
void ThrowFaults(std::vector<std::string> faults)
{
  faults.erase(std::remove(faults.begin(), faults.end(), ""), faults.end());
  if (!faults.empty()) {
    throw Error(JoinLines(faults));
  }
}

}  // namespace

Output::Output(const OutputConfig& config, MPI_Comm comm)
    : Config(WithAbsolutePaths(config)), Given(comm), Writer(config.Memory, config.WaitSeconds)
{
  this->Ranks = std::make_unique<BoundedCommunicator>(comm, config.WaitSeconds, "patchio_open");
  CheckAlike(config, *this->Ranks);
  if (config.How == Mode::Ranks) {
    this->Roles = std::make_unique<IoRoles>(*this->Ranks, comm, config);
    this->Ranks =
        std::make_unique<BoundedCommunicator>(this->Roles->Alike(), config.WaitSeconds, "patchio_open");
  }
  if (this->Roles ? !this->Roles->Computes() : config.How == Mode::Thread) {
    this->Aside = this->Ranks->Size() > 1 ? MakeSocketCommunicator(*this->Ranks, config.WaitSeconds)
                                          : MakeSelfCommunicator();
  }
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back({channel, MakeTarget(this->Writers(), channel),
        ThreadsFor(this->Config, channel, this->Ranks->Size())});
  }
  this->CheckPlaces();
  // MPI_Finalize() runs its callbacks in reverse order: HDF5, registered now, ends after open outputs are
  // closed.
  H5open();
}

Output::~Output()
{
  if (this->Roles && this->Ranks->IsBroken()) {
    this->Roles->Keep();
  }
}

/// Throws Error where a channel has a path at which nothing can be written: not at the first step, which may
/// be hours later.
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
    return this->Roles->Alike();
  }
  if (!this->Receiver) {
    this->Receiver = std::make_unique<StepReceiver>(*this->Roles, this->Ranks->Rank(), this->Config);
    if (this->Receiver->Serve([this](const auto& received) { this->WriteReceived(received); })) {
      this->Writer.Finish();
      this->Sinks.clear();  // so that the files are as they stay
    }
    this->Receiver->End();
  }
  return MPI_COMM_NULL;
}

void Output::CheckThatItComputes() const
{
  if (this->Roles && !this->Sender) {
    throw Error(
        this->Receiver
            ? "This is an I/O rank, which has no data of its own. Call patchio_write() on compute ranks only."
            : "Call patchio_compute() in the simulation, or choose another \"mode\" in the output "
              "configuration: the mode \"ranks\" needs patchio_compute() to separate compute and I/O ranks.");
  }
}

std::uint64_t Output::PeakMemory() const
{
  return this->Sender ? this->Sender->Peak() : this->Receiver ? this->Receiver->Peak() : this->Writer.Peak();
}

/// Steps on their way keep the declaration that they were made with.
Declaration& Output::Change()
{
  this->CheckThatItComputes();
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

void Output::SetPatches(const std::vector<DeclaredPatch>& mine, const std::string& fault)
{
  this->CheckThatItComputes();
  this->Ranks->Enter("patchio_patches");
  RunOnAllRanks(*this->Ranks, [&] {
    if (!fault.empty()) {
      throw Error(fault);
    }
    this->Declared->CheckGrid();
  });
  this->Change().SetPatches(*this->Ranks, mine);
}

void Output::AddVariable(const DeclaredVariable& variable)
{
  this->Change().AddVariable(variable);
}

bool Output::Wants(std::int64_t step) const
{
  return !this->SinksFor(step).empty();
}

std::vector<std::size_t> Output::SinksFor(std::int64_t step) const
{
  std::vector<std::size_t> sinks;
  for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
    if (this->Sinks[i].What.Wants(step)) {
      sinks.push_back(i);
    }
  }
  return sinks;
}

void Output::Write(std::int64_t number, double time, const void* const* values)
{
  this->CheckThatItComputes();
  this->Ranks->Enter("patchio_write", fmt::format("step {}", number));
  if (number < 0) {
    throw Error(fmt::format("Step numbers must be 0 or more, not {}.", number));
  }
  const std::shared_ptr<Step> step = this->MakeStep(number, time, values);
  if (!step->Sinks.empty()) {
    this->Sender ? this->SendStep(*step) : this->Aside ? this->WriteLater(step) : this->WriteNow(*step);
  }
  ThrowFaults({this->TakeFaults()});
}

std::string Output::TakeFaults()
{
  return this->Sender ? this->Sender->TakeFaults() : this->Writer.TakeFaults();
}

void Output::WriteNow(Step& step)
{
  step.TryTo([&] {
    this->CheckRoom(step, step.BytesToCopy(false));
    step.CopyArrays(false);
  });
  this->Prepare(step, this->Agree(step));
  this->WriteParts(step);
}

/// Hands over a copy of the values. A step that has no room even alone is written from the simulation's own
/// arrays, which takes until it is written.
void Output::WriteLater(const std::shared_ptr<Step>& step)
{
  const bool all = step->BytesToCopy(true) + step->BytesOfParts <= this->Config.Memory;
  const std::uint64_t bytes = step->BytesToCopy(all) + step->BytesOfParts;
  step->TryTo([&] {
    this->CheckRoom(*step, bytes);
    this->Writer.MakeRoom(bytes);
    step->CopyArrays(all);
  });
  this->Prepare(*step, this->Agree(*step));
  this->Writer.Add(bytes, [this, step] { this->WriteParts(*step); });
  if (!all) {
    this->Writer.FinishInAnyTime();
  }
}

/// Compute ranks know all that I/O ranks need: who has what.
void Output::SendStep(Step& step)
{
  const std::uint64_t bytes = step.BytesToCopy(true);
  step.TryTo([&] { this->Sender->MakeRoom(bytes); });
  Order order;
  order.Told = this->Agree(step);
  order.Code = CodeOf(step.What->Names(), step.Wanted);
  order.Step = step.Number;
  order.Time = step.Time;
  this->Sender->Send(std::move(order), step.What, bytes, [&](std::byte* to) { step.Pack(to); });
}

/// Tells the targets of this rank, or the I/O ranks, that a step is lost.
void Output::Lose(std::int64_t step)
{
  const auto tell = [this, step] {
    for (const std::size_t sink : this->SinksFor(step)) {
      this->Sinks[sink].To->Lose(step);
    }
  };
  if (this->Sender) {
    this->Sender->Lose(step);
  } else if (this->Aside) {
    this->Writer.Add(0, tell);
  } else {
    tell();
  }
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
  step->Sinks = this->SinksFor(step->Number);
  this->Prepare(*step, received->What.Told, received->Map);
  this->Writer.Add(received->Bytes, [this, step, received] {
    const std::string fault = CatchError([&] { this->WriteParts(*step); });
    received->Buffers.clear();
    this->Receiver->Done(fault);
  });
}

/// Collective over those that write: targets may have gathered steps.
void Output::FlushTargets()
{
  std::vector<std::string> faults;
  for (const Sink& sink : this->Sinks) {
    const std::string fault = CatchError([&] { sink.To->Flush(sink.Threads); });
    faults.push_back(fault.empty() ? fault : fmt::format("Channel '{}': {}", sink.What.Name, fault));
  }
  ThrowFaults(faults);
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

/// Collective. closes: also where ranks have given up waiting for each other, as far as each can by itself.
void Output::FinishSteps(const std::string& call, bool closes)
{
  const std::string apart = CatchError([&] {
    this->Ranks->Enter(call);
    this->Ranks->Meet();
  });
  const std::string fault = CatchError([&] {
    if (!apart.empty() && !closes) {
      return;
    }
    if (this->Sender) {
      this->Sender->Finish();
    } else if (this->Aside) {
      if (apart.empty()) {
        this->Writer.Add(0, [this] { this->FlushTargets(); });
      }
      this->Writer.Finish();
    } else if (apart.empty()) {
      this->FlushTargets();
    }
  });
  ThrowFaults({apart, fault, this->TakeFaults()});
}

/// told: by the ranks of the declaration. map: whose arrays this rank writes, where those that write are
/// others.
void Output::Prepare(Step& step, const std::vector<std::string>& told, const std::vector<int>& map)
{
  Catalog data = step.What->Data();
  data.Step = step.Number;
  data.Time = step.Time;
  data.ResetPresence();
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    for (const ArrayOfStep& array : ArraysTold(told[rank], static_cast<int>(rank), *step.What, step.Wanted)) {
      data.SetPresence(array.Variable, array.Patch, Presence::Stored);
    }
  }
  for (Patch& patch : data.Patches) {
    patch.Writer = map.empty() ? patch.Writer : map[patch.Writer];
  }
  for (const std::size_t sink : step.Sinks) {
    Part& part = step.Parts.emplace_back();
    part.Sink = sink;
    part.Fault = CatchError(
        [&] { this->PreparePart(step, sink == step.Sinks.back() ? std::move(data) : data, part); });
  }
}

/// The variables of the sink's channel alone.
void Output::PreparePart(const Step& step, Catalog data, Part& part)
{
  Sink& sink = this->Sinks[part.Sink];
  const std::vector<int> variables = VariablesOf(sink.What, data);
  std::vector<int> places(data.Variables.size(), -1);
  container::StepToWrite wanted;
  for (const int variable : variables) {
    places[variable] = static_cast<int>(wanted.Types.size());
    wanted.Types.push_back(step.What->Variables()[variable].Type);
  }
  wanted.Data = WithVariables(std::move(data), variables);
  PartsTarget* const parts = sink.To->OfParts();
  std::vector<GivenArray> given;
  for (const ArrayOfStep& array : step.Arrays) {
    if (places[array.Variable] >= 0 && parts) {
      given.push_back(
          {array.Patch, places[array.Variable], array.Given, step.What->Variables()[array.Variable].Ghosts});
    } else if (places[array.Variable] >= 0) {
      part.Mine.push_back({array.Patch, places[array.Variable], array.Values});
    }
  }
  part.To =
      parts ? parts->Prepare(wanted, step.What, given, step.Fault) : sink.To->Prepare(std::move(wanted));
}

/// Collective over those that write. A channel that fails does not keep the others from their step.
void Output::WriteParts(Step& step)
{
  std::vector<std::string> faults;
  for (Part& part : step.Parts) {
    const Sink& sink = this->Sinks[part.Sink];
    const std::string fault = CatchError([&] {
      const auto check = [&] {
        if (!part.Fault.empty()) {
          throw Error(part.Fault);
        }
      };
      const std::string unprepared =
          CatchError([&] { sink.To->OfParts() ? check() : RunOnAllRanks(this->Writers(), check); });
      if (!unprepared.empty()) {
        sink.To->Lose(step.Number);
        throw Error(unprepared);
      }
      part.To->Write(part.Mine, sink.Threads);
    });
    if (!fault.empty()) {
      faults.push_back(
          fmt::format("Step {} of the channel '{}' was not written. {}", step.Number, sink.What.Name, fault));
    }
  }
  ThrowFaults(faults);
}

}  // namespace patchio::output
