#include "Write/Output.h"

#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Write/ConfigCheck.h"
#include "Write/OutputStep.h"
#include "Write/SocketCommunicator.h"

#include <fmt/format.h>

#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

namespace patchio::output {
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
