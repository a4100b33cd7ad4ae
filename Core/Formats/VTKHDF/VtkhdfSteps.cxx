#include "Formats/VTKHDF/VtkhdfSteps.h"

#include "Formats/VTKHDF/VtkhdfTypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace patchio::vtkhdf {
namespace {

std::string NameOf(const std::string& list)
{
  return fmt::format("{}/Steps/{}", Root, list);
}

}  // namespace

StepsGroup::StepsGroup(const Access& file) : File(file)
{
  const std::string group = std::string(Root) + "/Steps";
  if (!file.Has(group)) {
    return;
  }
  this->There = true;
  constexpr double mostSteps = 1 << 20;
  const double count = file.Numbers(group, "NSteps", 1)[0];
  if (!(count >= 1 && count <= mostSteps) || count != std::floor(count)) {
    file.Fail(fmt::format("a number of steps from 1 to {} in the attribute 'NSteps'", mostSteps),
        fmt::format("{}", count));
  }
  this->Steps = static_cast<std::size_t>(count);
  const std::string values = NameOf("Values");
  const std::vector<std::uint64_t> dims = file.DimsOf(values);
  if (dims.empty() || dims[0] < this->Steps || dims[0] > file.MostEntries()) {
    file.Fail(fmt::format("the times of {} steps in '{}'", this->Steps, values),
        dims.empty() ? "none" : fmt::format("{}", dims[0]));
  }
  this->Values = file.File().Doubles(values, static_cast<std::int64_t>(dims[0]));
  this->Values.resize(this->Steps);
  const auto odd = std::find_if(
      this->Values.begin(), this->Values.end(), [](double time) { return !std::isfinite(time); });
  if (odd != this->Values.end()) {
    file.Fail(fmt::format("finite times in '{}'", values), fmt::format("{}", *odd));
  }
}

std::vector<std::int64_t> StepsGroup::List(const std::string& name, std::uint64_t columns) const
{
  if (!this->There) {
    return std::vector<std::int64_t>(columns, 0);
  }
  std::vector<std::int64_t> numbers = this->File.Counts(NameOf(name), columns);
  if (numbers.size() < this->Steps * columns) {
    this->File.Fail(fmt::format("a row for each of {} steps in '{}'", this->Steps, NameOf(name)),
        fmt::format("{}", numbers.size() / columns));
  }
  numbers.resize(this->Steps * columns);
  return numbers;
}

std::optional<std::vector<std::int64_t>> StepsGroup::MaybeList(const std::string& name) const
{
  return this->There && this->File.Has(NameOf(name)) ? std::optional(this->List(name)) : std::nullopt;
}

}  // namespace patchio::vtkhdf
