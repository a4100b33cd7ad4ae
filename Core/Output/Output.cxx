#include "Output/Output.h"

#include "Output/SocketCommunicator.h"
#include "Storage/StorageProfile.h"
#include "Support/ByteText.h"
#include "Support/Checksum.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace patchio::output {
namespace {

/// Writes in flight of a rank where nothing is known of the storage.
constexpr int DefaultThreads = 4;

/// A variable on one of this rank's patches.
struct Array
{
  int Variable = 0;
  int Patch = 0;  ///< in the catalog
  const void* Values = nullptr;
};

/// What ranks tell each other of a step: what went wrong, or which of its arrays there are. Most often all
/// are there, which takes a few bytes.
enum Tells : char
{
  Fault = 'f',
  All = 'a',
  Some = 's'
};

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

}  // namespace

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
  std::vector<std::size_t> Sinks;  ///< that want it
  std::vector<Array> Arrays;       ///< that there are of this rank
  bool HasAll = true;              ///< nothing lacks on its patches
  std::string Fault;               ///< why this rank cannot give its values
  std::unique_ptr<std::byte[]> Copies;

  std::vector<Part> Parts;

  /// Bytes that the copy of an array takes: the next one begins where numbers of all types may.
  std::uint64_t RoomFor(const Array& array) const
  {
    constexpr std::uint64_t unit = sizeof(double);
    return (this->What->BytesOf(array.Variable, array.Patch) + unit - 1) / unit * unit;
  }
  /// Bytes of the arrays that CopyArrays() copies: all of them, or those that have ghosts.
  std::uint64_t BytesToCopy(bool all) const;
  /// From now on the simulation's arrays are not needed any more, if `all`.
  void CopyArrays(bool all);
  /// Unless there was a fault before.
  void TryTo(const std::function<void()>& work)
  {
    this->Fault = this->Fault.empty() ? CatchError(work) : this->Fault;
  }
  /// What this rank tells the others.
  std::string Told() const;
  std::uint64_t Fingerprint() const;
};

std::uint64_t Output::Step::BytesToCopy(bool all) const
{
  std::uint64_t bytes = 0;
  for (const Array& array : this->Arrays) {
    bytes += all || this->What->HasGhosts(array.Variable) ? this->RoomFor(array) : 0;
  }
  return bytes;
}

void Output::Step::CopyArrays(bool all)
{
  this->Copies.reset(new std::byte[this->BytesToCopy(all)]);  // not set to 0 first
  std::byte* next = this->Copies.get();
  for (Array& array : this->Arrays) {
    if (all || this->What->HasGhosts(array.Variable)) {
      this->What->CopyInside(array.Variable, array.Patch, array.Values, next);
      array.Values = next;
      next += this->RoomFor(array);
    }
  }
}

std::string Output::Step::Told() const
{
  if (!this->Fault.empty()) {
    return char(Tells::Fault) + this->Fault;
  }
  const std::uint64_t declared = this->Fingerprint();
  const std::string begin =
      std::string(1, this->HasAll ? Tells::All : Tells::Some) + TextOfValues(std::vector{declared});
  if (this->HasAll) {
    return begin;
  }
  std::vector<std::array<int, 2>> there;
  for (const Array& array : this->Arrays) {
    there.push_back({array.Variable, array.Patch});
  }
  return begin + TextOfValues(there);
}

/// Of what must be alike on all ranks.
std::uint64_t Output::Step::Fingerprint() const
{
  const std::string text = fmt::format("{} {} {}", this->Number, this->Time, this->What->Text());
  return Checksum(text.data(), text.size());
}

Output::Output(const OutputConfig& config, MPI_Comm comm)
    : Config(config), Ranks(MakeMpiCommunicator(comm)), Writer(config.Memory, config.WaitSeconds)
{
  if (config.How == Mode::Thread) {
    this->Aside = this->Ranks->Size() > 1 ? MakeSocketCommunicator(*this->Ranks, config.WaitSeconds)
                                          : MakeSelfCommunicator();
  }
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back({channel, MakeTarget(this->Writers(), channel), this->ThreadsFor(channel)});
  }
}

Output::~Output() = default;

/// Steps on their way keep the declaration that they were made with.
Declaration& Output::Change()
{
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

int Output::ThreadsFor(const Channel& channel) const
{
  if (this->Config.Threads > 0) {
    return this->Config.Threads;
  }
  const auto profile = FindProfile(channel.Path, nullptr, this->Ranks->Size());
  return profile ? profile->ThreadsFor(this->Ranks->Size()) : DefaultThreads;
}

void Output::OnAllRanks(const std::function<void()>& work)
{
  RunOnAllRanks(*this->Ranks, work);
}

bool Output::Wants(std::int64_t step) const
{
  return std::any_of(
      this->Sinks.begin(), this->Sinks.end(), [step](const Sink& sink) { return sink.What.Wants(step); });
}

void Output::Write(std::int64_t number, double time, const void* const* values)
{
  if (number < 0) {
    throw Error(fmt::format("Steps are counted from 0, unlike step {}.", number));
  }
  const std::shared_ptr<Step> step = this->MakeStep(number, time, values);
  if (!step->Sinks.empty()) {
    this->Aside ? this->WriteLater(step) : this->WriteNow(*step);
  }
  const std::string faults = this->Writer.TakeFaults();
  if (!faults.empty()) {
    throw Error(faults);
  }
}

std::shared_ptr<Output::Step> Output::MakeStep(
    std::int64_t number, double time, const void* const* values) const
{
  auto step = std::make_shared<Step>();
  step->Number = number;
  step->Time = time;
  step->What = this->Declared;
  for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
    if (this->Sinks[i].What.Wants(number)) {
      step->Sinks.push_back(i);
    }
  }
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
  std::vector<bool> wanted(data.Variables.size());
  for (const std::size_t sink : step.Sinks) {
    for (const int variable : VariablesOf(this->Sinks[sink].What, data)) {
      wanted[variable] = true;
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
      step.Arrays.push_back({variable, mine[i % mine.size()], values[i]});
    }
    step.HasAll = step.HasAll && (!wanted[variable] || values[i]);
  }
}

/// Throws Error when a step has no room for the arrays that it copies.
void Output::CheckRoom(const Step& step, std::uint64_t bytes) const
{
  if (bytes > this->Config.Memory) {
    throw Error(
        fmt::format("Step {} needs {} on a rank for arrays without their ghosts, where the output "
                    "configuration allows {}: raise its \"memory\".",
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
  this->Prepare(step);
  this->WriteParts(step);
}

/// Hands over a copy of the values. A step that has no room even alone is written from the simulation's own
/// arrays, which takes until it is written.
void Output::WriteLater(const std::shared_ptr<Step>& step)
{
  const bool all = step->BytesToCopy(true) <= this->Config.Memory;
  const std::uint64_t bytes = step->BytesToCopy(all);
  step->TryTo([&] {
    this->CheckRoom(*step, bytes);
    this->Writer.MakeRoom(bytes);
    step->CopyArrays(all);
  });
  this->Prepare(*step);
  this->Writer.Add(bytes, [this, step] { this->WriteParts(*step); });
  if (!all) {
    this->Writer.FinishInAnyTime();
  }
}

void Output::Flush()
{
  this->Writer.Finish();
  const std::string faults = this->Writer.TakeFaults();
  if (!faults.empty()) {
    throw Error(faults);
  }
}

/// Collective over the simulation's ranks: agrees on what there is of the step, and prepares it for its
/// sinks.
void Output::Prepare(Step& step)
{
  Catalog data = step.What->Data();
  data.Step = step.Number;
  data.Time = step.Time;
  data.ResetPresence();
  const std::vector<std::string> told = this->Ranks->AllGather(step.Told());
  for (const std::string& one : told) {
    if (one[0] == Tells::Fault) {
      throw Error(one.substr(1));
    }
    constexpr std::size_t head = 1 + sizeof(std::uint64_t);
    if (one.compare(1, head - 1, told[0], 1, head - 1) != 0) {
      throw Error(
          fmt::format("Step {} is not the same on all ranks: rank {} has another number or time of it than "
                      "rank 0, or has "
                      "declared another grid or other variables.",
              step.Number, &one - told.data()));
    }
    for (const auto& [variable, patch] : ValuesInTexts<std::array<int, 2>>({one.substr(head)})) {
      data.SetPresence(variable, patch, Presence::Stored);
    }
  }
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const bool all = told[data.Patches[p].Writer][0] == Tells::All;
    for (std::size_t v = 0; v < data.Variables.size() && all; ++v) {
      data.SetPresence(static_cast<int>(v), static_cast<int>(p), Presence::Stored);
    }
  }
  for (const std::size_t sink : step.Sinks) {
    Part& part = step.Parts.emplace_back();
    part.Sink = sink;
    part.Fault = CatchError([&] { this->PreparePart(step, data, part); });
  }
}

/// The variables of the sink's channel alone.
void Output::PreparePart(const Step& step, const Catalog& data, Part& part)
{
  Sink& sink = this->Sinks[part.Sink];
  const std::vector<int> variables = VariablesOf(sink.What, data);
  container::StepToWrite wanted{data, {}, {}};
  std::vector<int> places(data.Variables.size(), -1);
  wanted.Data.Variables.clear();
  for (const int variable : variables) {
    places[variable] = static_cast<int>(wanted.Types.size());
    wanted.Data.Variables.push_back(data.Variables[variable]);
    wanted.Types.push_back(step.What->Variables()[variable].Type);
  }
  wanted.Data.ResetPresence();
  for (std::size_t v = 0; v < variables.size(); ++v) {
    for (int p = 0; p < static_cast<int>(data.Patches.size()); ++p) {
      wanted.Data.SetPresence(static_cast<int>(v), p, data.PresenceOf(variables[v], p));
    }
  }
  for (const Array& array : step.Arrays) {
    if (places[array.Variable] >= 0) {
      part.Mine.push_back({array.Patch, places[array.Variable], array.Values});
    }
  }
  part.To = sink.To->Prepare(std::move(wanted));
}

/// Collective over those that write. A channel that fails does not keep the others from their step.
void Output::WriteParts(Step& step)
{
  std::vector<std::string> faults;
  for (Part& part : step.Parts) {
    const Sink& sink = this->Sinks[part.Sink];
    const std::string fault = CatchError([&] {
      RunOnAllRanks(this->Writers(), [&] {
        if (!part.Fault.empty()) {
          throw Error(part.Fault);
        }
      });
      part.To->Write(part.Mine, sink.Threads);
    });
    if (!fault.empty()) {
      faults.push_back(
          fmt::format("Step {} of the channel '{}' was not written. {}", step.Number, sink.What.Name, fault));
    }
  }
  if (!faults.empty()) {
    throw Error(JoinLines(faults));
  }
}

}  // namespace patchio::output
