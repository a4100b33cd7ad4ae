#include "Formats/VTKHDF/VtkhdfAccess.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace patchio::vtkhdf {
namespace {

constexpr std::int64_t MostCount = std::int64_t(1) << 40;

}  // namespace

void Access::Fail(const std::string& expected, const std::string& found) const
{
  throw FileError(this->Name, expected, found, "The file is damaged, or is not a valid VTKHDF file");
}

hdf5::Handle Access::Group(const std::string& group) const
{
  hdf5::Handle handle = this->Opened.OpenGroup(this->Opened.Id(), group);
  if (!handle.Valid()) {
    this->Fail(fmt::format("a group '{}'", group), "an unreadable group (" + hdf5::LastMessage() + ")");
  }
  return handle;
}

std::vector<double> Access::Numbers(hid_t object, const std::string& name, std::size_t count) const
{
  std::vector<double> values = hdf5::NumbersAttribute(object, name);
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

Double3 Access::Triple(hid_t object, const std::string& name) const
{
  const std::vector<double> values = this->Numbers(object, name, 3);
  return {values[0], values[1], values[2]};
}

std::vector<std::uint64_t> Access::DimsOf(const std::string& dataset) const
{
  return hdf5::DimsOf(this->Opened.OpenDataset(this->Opened.Id(), dataset));
}

std::uint64_t Access::MostEntries() const
{
  constexpr std::uint64_t most = 1 << 24;
  return std::min<std::uint64_t>(most, 4096 + std::filesystem::file_size(this->Name));
}

std::vector<std::int64_t> Access::Counts(const std::string& dataset, std::uint64_t columns) const
{
  const std::vector<std::uint64_t> dims = this->DimsOf(dataset);
  const std::uint64_t most = this->MostEntries() / columns;
  const bool list = dims.size() == 1 && columns == 1;
  if ((!list && (dims.size() != 2 || dims[1] != columns)) || dims[0] > most) {
    this->Fail(fmt::format("rows of {} numbers, at most {}, in '{}'", columns, most, dataset),
        dims.empty() ? "none" : fmt::format("{} rows in {} dimensions", dims[0], dims.size()));
  }
  std::vector<std::int64_t> counts(dims[0] * columns);
  if (!counts.empty()) {
    this->Opened.Range(dataset, 0, counts.size(), H5T_NATIVE_INT64, counts.data());
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > MostCount) {
      this->Fail(fmt::format("numbers from 0 to {} in '{}'", MostCount, dataset),
          fmt::format("{} in row {}", counts[i], i / columns));
    }
  }
  return counts;
}

std::uint64_t AddPlaces(const Access& file, std::uint64_t a, std::uint64_t b)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 60;
  if (a > most || b > most - a) {
    file.Fail(fmt::format("at most {} values in total", most), "counts with a larger sum");
  }
  return a + b;
}

}  // namespace patchio::vtkhdf
