#include "Output/Output.h"

#include "Output/OutputStep.h"
#include "Output/SocketCommunicator.h"
#include "Support/ByteText.h"
#include "Support/Checksum.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace patchio::output {
namespace {

/// The variables of a channel, by number.
std::vector<int> VariablesOf(const Channel& channel, const Catalog& data)
{
  std::vector<int> variables;
  for (const std::string& name : channel.Variables) {
    variables.push_back(data.FindVariable(name));
    if (variables.back() < 0) {
      throw Error(fmt::format("Channel '{}' wants the variable '{}', which the simulation has not declared.",
          channel.Name, PlainText(name)));
    }
  }
  if (variables.empty()) {
    variables.resize(data.Variables.size());
    std::iota(variables.begin(), variables.end(), 0);
  }
  return variables;
}

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
    : Config(config),
      Given(comm),
      Roles(config.How == Mode::Ranks ? std::make_unique<IoRoles>(comm, config) : nullptr),
      Ranks(MakeMpiCommunicator(this->Roles ? this->Roles->Alike() : comm)),
      Writer(config.Memory, config.WaitSeconds)
{
  if (this->Roles ? !this->Roles->Computes() : config.How == Mode::Thread) {
    this->Aside = this->Ranks->Size() > 1 ? MakeSocketCommunicator(*this->Ranks, config.WaitSeconds)
                                          : MakeSelfCommunicator();
  }
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back({channel, MakeTarget(this->Writers(), channel),
        ThreadsFor(this->Config, channel, this->Ranks->Size())});
  }
}

Output::~Output() = default;

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
    throw Error(this->Receiver ? "This is an I/O rank, which has nothing to write of its own."
                               : "The mode \"ranks\" is for simulations that ask which ranks compute, by "
                                 "patchio_compute(): take another mode in the output configuration.");
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

void Output::SetGrid(
    int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios)
{
  this->Change().SetGrid(dimension, origin, spacing, ratios);
}

void Output::SetPatches(const std::vector<DeclaredPatch>& mine)
{
  this->Change().SetPatches(*this->Ranks, mine);
}

void Output::AddVariable(const DeclaredVariable& variable)
{
  this->Change().AddVariable(variable);
}

void Output::OnAllRanks(const std::function<void()>& work)
{
  RunOnAllRanks(*this->Ranks, work);
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
  if (number < 0) {
    throw Error(fmt::format("Steps are counted from 0, unlike step {}.", number));
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
  if (!std::isfinite(step.Time)) {
    throw Error(fmt::format("Step {} has no finite time, but {}.", step.Number, step.Time));
  }
  if (data.Patches.empty()) {
    throw Error(fmt::format(
        "Step {} has no patches: declare them before it, and again after each change of the grid.",
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
    throw Error(fmt::format("Step {} was given no list of arrays, but NULL.", step.Number));
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
        fmt::format("Step {} needs {} on a rank for copies of values, where the output configuration "
                    "allows {}: raise its \"memory\".",
            step.Number, ByteText(static_cast<double>(bytes)),
            ByteText(static_cast<double>(this->Config.Memory))));
  }
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

void Output::WriteReceived(const std::shared_ptr<ReceivedStep>& received)
{
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
  const std::string fault = CatchError([this] {
    if (this->Sender) {
      this->Sender->Finish();
    } else if (this->Aside) {
      this->Writer.Add(0, [this] { this->FlushTargets(); });
      this->Writer.Finish();
    } else {
      this->FlushTargets();
    }
  });
  ThrowFaults({fault, this->TakeFaults()});
}

void Output::Close()
{
  const std::string fault = CatchError([this] { this->Flush(); });
  const std::string end = CatchError([this] {
    if (this->Sender) {
      this->Sender->End();
    }
  });
  ThrowFaults({fault, end, this->TakeFaults()});
}

/// Collective: what ranks have of the step. Throws Error, the same on all ranks.
std::vector<std::string> Output::Agree(const Step& step) const
{
  const auto takesParts = [this](std::size_t sink) { return this->Sinks[sink].To->OfParts() != nullptr; };
  if (std::all_of(step.Sinks.begin(), step.Sinks.end(), takesParts)) {
    // Such targets agree later, when they have gathered steps.
    return std::vector<std::string>(this->Ranks->Size(), TellArrays({}, true));
  }
  const std::string mine = TextOfValues(std::vector{step.Fingerprint()});
  std::vector<std::string> told = this->Ranks->AllGather(
      mine + (step.Fault.empty() ? TellArrays(step.Arrays, step.HasAll) : TellFault(step.Fault)));
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    CheckTold(told[rank].substr(mine.size()));
  }
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    if (told[rank].compare(0, mine.size(), told[0], 0, mine.size()) != 0) {
      throw Error(
          fmt::format("Step {} is not the same on all ranks: rank {} has another number or time of it "
                      "than rank 0, or has declared another grid or other variables.",
              step.Number, rank));
    }
  }
  for (std::string& one : told) {
    one = one.substr(mine.size());
  }
  return told;
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
      sink.To->OfParts() ? check() : RunOnAllRanks(this->Writers(), check);
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
