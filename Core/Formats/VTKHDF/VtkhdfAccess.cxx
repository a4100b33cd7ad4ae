#include "Formats/VTKHDF/VtkhdfAccess.h"

#include "Base/Error.h"
#include "Hdf5/Dataset.h"
#include "Hdf5/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>

namespace patchio::vtkhdf {

FileType TypeNamed(const std::string& name)
{
  return name == "ImageData"          ? FileType::Image
         : name == "OverlappingAMR"   ? FileType::Amr
         : name == "UnstructuredGrid" ? FileType::Unstructured
         : name == "PolyData"         ? FileType::Polygons
                                      : FileType::None;
}

std::string NameOfType(const std::string& path)
{
  try {
    if (!hdf5::HasSignature(path)) {
      return {};
    }
    return hdf5::File(path).Text(Root, "Type");
  } catch (const std::exception&) {
    return {};
  }
}

std::string GroupOfLevel(FileType type, int level)
{
  return type == FileType::Amr ? fmt::format("{}/Level{}", Root, level) : Root;
}

namespace {

constexpr std::int64_t MostCount = std::int64_t(1) << 40;

}  // namespace

void Access::Fail(const std::string& expected, const std::string& found) const
{
  throw FileError(this->Path(), expected, found, "The file is damaged, or is not a valid VTKHDF file");
}

void Access::FailUnsupported(const std::string& what, const std::string& where) const
{
  throw hdf5::UnsupportedError(this->Path(), what, where, "Open the file with ParaView's own VTKHDF reader");
}

std::string Access::UnsupportedReason(const hdf5::Dataset& dataset)
{
  return dataset.Layout == hdf5::StorageLayout::Unsupported ? dataset.Reason
         : hdf5::ElementTypeOf(dataset)                     ? ""
                                                            : "type " + hdf5::TypeText(dataset);
}

void Access::RequireGroup(const std::string& group) const
{
  if (!this->IsGroup(group)) {
    this->Fail(fmt::format("a group '{}'", group), "none");
  }
}

std::vector<double> Access::Numbers(
    const std::string& object, const std::string& name, std::size_t count) const
{
  std::vector<double> values = this->Numbers(object, name);
  if (values.size() != count) {
    this->Fail(fmt::format("{} numbers in the attribute '{}'", count, name),
        values.empty() ? "none" : fmt::format("{}", values.size()));
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      this->Fail(fmt::format("finite numbers in the attribute '{}'", name), fmt::format("{}", value));
    }
  }
  return values;
}

Double3 Access::Triple(const std::string& object, const std::string& name) const
{
  const std::vector<double> values = this->Numbers(object, name, 3);
  return {values[0], values[1], values[2]};
}

std::vector<std::uint64_t> Access::DimsOf(const std::string& dataset) const
{
  if (!this->Has(dataset)) {
    return {};
  }
  const hdf5::Dataset info = this->Describe(dataset);
  const std::string unsupported = UnsupportedReason(info);
  if (!unsupported.empty()) {
    this->FailUnsupported(unsupported, dataset);
  }
  return hdf5::DimsOf(info);
}

std::uint64_t Access::MostEntries() const
{
  constexpr std::uint64_t most = 1 << 24;
  return std::min<std::uint64_t>(most, 4096 + this->SizeOfFile());
}

/// Returns all rows of `columns` numbers. Throws Error for more than `most` rows. A single column may be
/// stored as a list.
template <typename T>
std::vector<T> Access::Rows(const std::string& dataset, std::uint64_t columns, std::uint64_t most) const
{
  const std::vector<std::uint64_t> dims = this->DimsOf(dataset);
  const bool list = dims.size() == 1 && columns == 1;
  if ((!list && (dims.size() != 2 || dims[1] != columns)) || dims[0] > most) {
    this->Fail(fmt::format("at most {} rows of {} numbers in '{}'", most, columns, dataset),
        dims.empty() ? "none" : fmt::format("shape {}", fmt::join(dims, " x ")));
  }
  return this->Range<T>(dataset, 0, dims[0] * columns);
}

std::vector<std::int64_t> Access::Counts(const std::string& dataset, std::uint64_t columns) const
{
  const auto counts = this->Rows<std::int64_t>(dataset, columns, this->MostEntries() / columns);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > MostCount) {
      this->Fail(fmt::format("numbers from 0 to {} in '{}'", MostCount, dataset),
          fmt::format("{} in row {}", counts[i], i / columns));
    }
  }
  return counts;
}

std::vector<Box> Access::Boxes(const std::string& name) const
{
  const auto numbers = this->Rows<int>(name, 6, this->MostEntries());
  std::vector<Box> boxes(numbers.size() / 6);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      boxes[b].Lower[axis] = numbers[6 * b + 2 * axis];
      boxes[b].Upper[axis] = numbers[6 * b + 2 * axis + 1];
    }
    const int limit = 1 << 30;
    const auto far = [&](int index) { return index < -limit || index > limit; };
    if (boxes[b].Empty() || std::any_of(boxes[b].Lower.begin(), boxes[b].Lower.end(), far) ||
        std::any_of(boxes[b].Upper.begin(), boxes[b].Upper.end(), far)) {
      this->Fail(fmt::format("non-empty boxes with indices up to 2^30 in '{}'", name),
          fmt::format("another box in row {}", b));
    }
  }
  return boxes;
}

Box Access::WholeExtent(const std::string& image, std::uint64_t& flatAxes) const
{
  const std::vector<double> extent = this->Numbers(image, "WholeExtent", 6);
  Box cells;
  flatAxes = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = extent[2 * axis], upper = extent[2 * axis + 1];
    if (!(std::abs(lower) < 1 << 30 && std::abs(upper) < 1 << 30 && upper >= lower)) {
      this->Fail("a 'WholeExtent' of pairs lower <= upper, with indices below 2^30",
          fmt::format("{} to {}", lower, upper));
    }
    cells.Lower[axis] = static_cast<int>(lower);
    cells.Upper[axis] = static_cast<int>(upper > lower ? upper - 1 : upper);
    flatAxes |= upper > lower ? 0 : std::uint64_t(1) << axis;
  }
  return cells;
}

std::uint64_t AddOffsets(const Access& file, std::uint64_t a, std::uint64_t b)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 60;
  if (a > most || b > most - a) {
    file.Fail(fmt::format("at most {} values in total", most), "counts with a larger sum");
  }
  return a + b;
}

namespace {

/// Returns the path of a list in the group of steps.
std::string ListPath(const std::string& list)
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
  this->HasGroup = true;
  constexpr double mostSteps = 1 << 20;
  const double count = file.Numbers(group, "NSteps", 1)[0];
  if (!(count >= 1 && count <= mostSteps) || count != std::floor(count)) {
    file.Fail(fmt::format("a number of steps from 1 to {} in the attribute 'NSteps'", mostSteps),
        fmt::format("{}", count));
  }
  this->Steps = static_cast<std::size_t>(count);
  const std::string values = ListPath("Values");
  const std::vector<std::uint64_t> dims = file.DimsOf(values);
  if (dims.empty() || dims[0] < this->Steps || dims[0] > file.MostEntries()) {
    file.Fail(fmt::format("the times of {} steps in '{}'", this->Steps, values),
        dims.empty() ? "none" : fmt::format("{}", dims[0]));
  }
  this->Values = file.Doubles(values, static_cast<std::int64_t>(dims[0]));
  this->Values.resize(this->Steps);
  const auto odd = std::find_if(
      this->Values.begin(), this->Values.end(), [](double time) { return !std::isfinite(time); });
  if (odd != this->Values.end()) {
    file.Fail(fmt::format("finite times in '{}'", values), fmt::format("{}", *odd));
  }
}

std::vector<std::int64_t> StepsGroup::Read(const std::string& name, std::uint64_t columns) const
{
  if (!this->HasGroup) {
    return std::vector<std::int64_t>(columns, 0);
  }
  std::vector<std::int64_t> numbers = this->File.Counts(ListPath(name), columns);
  if (numbers.size() < this->Steps * columns) {
    this->File.Fail(fmt::format("a row for each of {} steps in '{}'", this->Steps, ListPath(name)),
        fmt::format("{}", numbers.size() / columns));
  }
  numbers.resize(this->Steps * columns);
  return numbers;
}

std::optional<std::vector<std::int64_t>> StepsGroup::Find(const std::string& name) const
{
  return this->HasGroup && this->File.Has(ListPath(name)) ? std::optional(this->Read(name)) : std::nullopt;
}

}  // namespace patchio::vtkhdf
