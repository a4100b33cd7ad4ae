#include "Output/Output.h"

#include "Output/SocketCommunicator.h"
#include "Storage/StorageProfile.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  bool Whole = false;           ///< some sink wants all of it: see PartsTarget
  const void* Given = nullptr;  ///< by the simulation, with ghosts
};

/// What ranks tell each other of a step: what went wrong, or which of its arrays there are. Most often all
/// are there, which takes one byte.
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
  std::uint64_t BytesOfParts = 0;  ///< that sinks copy by themselves

  std::vector<Part> Parts;

  /// Bytes of the arrays that CopyArrays() copies: all of them, or those that have ghosts.
  std::uint64_t BytesToCopy(bool all) const;
  /// From now on the simulation's arrays are not needed any more, if `all`.
  void CopyArrays(bool all);
  /// What this rank tells the others.
  std::string Told() const;
};

std::uint64_t Output::Step::BytesToCopy(bool all) const
{
  std::uint64_t bytes = 0;
  for (const Array& array : this->Arrays) {
    bytes += array.Whole && (all || this->What->HasGhosts(array.Variable))
                 ? this->What->BytesOf(array.Variable, array.Patch)
                 : 0;
  }
  return bytes;
}

void Output::Step::CopyArrays(bool all)
{
  this->Copies.reset(new std::byte[this->BytesToCopy(all)]);  // not set to 0 first
  std::byte* next = this->Copies.get();
  for (Array& array : this->Arrays) {
    if (array.Whole && (all || this->What->HasGhosts(array.Variable))) {
      this->What->CopyInside(array.Variable, array.Patch, array.Values, next);
      array.Values = next;
      next += this->What->BytesOf(array.Variable, array.Patch);
    }
  }
}

std::string Output::Step::Told() const
{
  if (!this->Fault.empty()) {
    return char(Tells::Fault) + this->Fault;
  }
  if (this->HasAll) {
    return std::string(1, Tells::All);
  }
  std::vector<std::array<int, 2>> there;
  for (const Array& array : this->Arrays) {
    there.push_back({array.Variable, array.Patch});
  }
  return char(Tells::Some) + TextOfValues(there);
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

bool Output::Wants(std::int64_t step) const
{
  return std::any_of(
      this->Sinks.begin(), this->Sinks.end(), [step](const Sink& sink) { return sink.What.Wants(step); });
}

void Output::Write(std::int64_t number, double time, const void* const* values)
{
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
  std::vector<bool> wanted(this->Declared->Variables().size()), whole = wanted;
  for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
    if (!this->Sinks[i].What.Wants(number)) {
      continue;
    }
    step->Sinks.push_back(i);
    const std::vector<int> variables = VariablesOf(this->Sinks[i].What, this->Declared->Data());
    PartsTarget* const parts = this->Sinks[i].To->OfParts();
    step->BytesOfParts += parts ? parts->BytesOf(this->Declared, variables.size()) : 0;
    for (const int variable : variables) {
      wanted[variable] = true;
      whole[variable] = whole[variable] || !parts;
    }
  }
  const std::vector<int>& mine = this->Declared->Mine();
  for (std::size_t i = 0; i < wanted.size() * mine.size(); ++i) {
    const int variable = static_cast<int>(i / mine.size());
    if (wanted[variable] && values[i]) {
      step->Arrays.push_back({variable, mine[i % mine.size()], values[i], whole[variable], values[i]});
    }
    step->HasAll = step->HasAll && (!wanted[variable] || values[i]);
  }
  return step;
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
  step.Fault = CatchError([&] {
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
  const bool all = step->BytesToCopy(true) + step->BytesOfParts <= this->Config.Memory;
  const std::uint64_t bytes = step->BytesToCopy(all) + step->BytesOfParts;
  step->Fault = CatchError([&] {
    this->CheckRoom(*step, bytes);
    this->Writer.MakeRoom(bytes);
    step->CopyArrays(all);
  });
  this->Prepare(*step);
  this->Writer.Add(bytes, [this, step] { this->WriteParts(*step); });
  if (!all) {
    this->Writer.Finish();
  }
}

void Output::Flush()
{
  const auto flush = [this] {
    std::vector<std::string> faults;
    for (const Sink& sink : this->Sinks) {
      const std::string fault = CatchError([&] { sink.To->Flush(sink.Threads); });
      if (!fault.empty()) {
        faults.push_back(fmt::format("Channel '{}': {}", sink.What.Name, fault));
      }
    }
    if (!faults.empty()) {
      throw Error(JoinLines(faults));
    }
  };
  if (!this->Aside) {
    flush();
  } else {
    this->Writer.Add(0, flush);
  }
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
  // Where only parts are wanted, ranks need not know what others have.
  const bool alone = std::all_of(step.Sinks.begin(), step.Sinks.end(),
      [this](std::size_t sink) { return this->Sinks[sink].To->OfParts() != nullptr; });
  const std::vector<std::string> told =
      alone ? std::vector<std::string>() : this->Ranks->AllGather(step.Told());
  for (const std::string& one : told) {
    if (one[0] == Tells::Fault) {
      throw Error(one.substr(1));
    }
    for (const auto& [variable, patch] : ValuesInTexts<std::array<int, 2>>({one.substr(1)})) {
      data.SetPresence(variable, patch, Presence::Stored);
    }
  }
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const bool all = alone || told[data.Patches[p].Writer][0] == Tells::All;
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
  PartsTarget* const parts = sink.To->OfParts();
  std::vector<GivenArray> given;
  for (const Array& array : step.Arrays) {
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
  if (!faults.empty()) {
    throw Error(JoinLines(faults));
  }
}

}  // namespace patchio::output
