#include "Write/OutputStep.h"

#include "Base/ByteText.h"
#include "Base/Bytes.h"
#include "Base/Checksum.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace patchio::output {

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

}  // namespace patchio::output
