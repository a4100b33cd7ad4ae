// Values of data sets and attributes, and names.
#include "Support/Error.h"
#include "Support/Hdf5.h"
#include "Support/Hdf5Check.h"
#include "Support/Hdf5Trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace patchio::hdf5 {
namespace {

constexpr std::int64_t LargestCount = std::int64_t(1) << 28;

/// The number of values to read, checked before anything is allocated.
std::uint64_t CheckedCount(
    const std::string& path, const std::string& dataset, hid_t handle, std::int64_t expected)
{
  const Handle space(H5Dget_space(handle));
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const std::int64_t largest = expected >= 0 ? expected : LargestCount;
  if (count < 0 || count > largest || (expected >= 0 && count != expected)) {
    throw FileError(path,
        expected >= 0 ? fmt::format("{} values in '{}'", expected, dataset)
                      : fmt::format("at most {} values in '{}'", LargestCount, dataset),
        fmt::format("{}", count), "The file is damaged or inconsistent");
  }
  return static_cast<std::uint64_t>(count);
}

/// Values that were never written take memory without being anywhere in the file. Deflate makes bytes a
/// thousand times as many.
void CheckFits(
    const std::string& path, const std::string& dataset, std::uint64_t count, std::uint64_t bytesEach)
{
  constexpr std::uint64_t always = 16 << 20, mostOfByte = 1024;
  const std::uint64_t most = always + mostOfByte * std::filesystem::file_size(path);
  if (count > most / bytesEach) {
    throw FileError(path, fmt::format("at most {} bytes in '{}'", most, dataset),
        fmt::format("{} values of {} bytes", count, bytesEach), "The file is damaged");
  }
}

}  // namespace

void File::ReadValues(const std::string& dataset, hid_t handle, hid_t type, void* into, hid_t memorySpace,
    hid_t fileSpace) const
{
  QuietScope quiet;
  std::string reason;
  try {
    this->CheckChunks(handle);
    const auto read = [&] { return H5Dread(handle, type, memorySpace, fileSpace, H5P_DEFAULT, into); };
    if (this->Check->HasUnknown()) {
      TryValues(this->PathName, handle, read);
    }
    reason = read() < 0 ? LastMessage() : "";
  } catch (const Unsound& unsound) {
    reason = unsound.what();
  }
  if (!reason.empty()) {
    throw FileError(this->PathName, fmt::format("readable values in '{}'", dataset), reason,
        "The file is damaged, or still being written, or needs a filter that this HDF5 library does not "
        "have");
  }
}

template <typename T>
std::vector<T> File::ReadNumbers(const std::string& dataset, std::int64_t expectedCount, hid_t type) const
{
  const Handle handle = this->OpenDataset(dataset);
  const std::uint64_t count = CheckedCount(this->PathName, dataset, handle, expectedCount);
  CheckFits(this->PathName, dataset, count, sizeof(T));
  std::vector<T> values(count);
  if (!values.empty()) {
    this->ReadValues(dataset, handle, type, values.data());
  }
  return values;
}

std::vector<double> File::Doubles(const std::string& dataset, std::int64_t expectedCount) const
{
  return this->ReadNumbers<double>(dataset, expectedCount, H5T_NATIVE_DOUBLE);
}

std::vector<int> File::Ints(const std::string& dataset, std::int64_t expectedCount) const
{
  return this->ReadNumbers<int>(dataset, expectedCount, H5T_NATIVE_INT);
}

std::vector<std::string> File::Strings(const std::string& dataset, std::int64_t expectedCount) const
{
  const Handle handle = this->OpenDataset(dataset);
  const std::uint64_t count = CheckedCount(this->PathName, dataset, handle, expectedCount);
  const Handle type(H5Dget_type(handle));
  const std::size_t width = H5Tget_size(type);
  constexpr std::size_t widest = 4096;
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || width == 0 || width > widest) {
    throw FileError(this->PathName, fmt::format("strings of fixed length in '{}'", dataset), "another type",
        DamagedOrForeign);
  }
  CheckFits(this->PathName, dataset, count, width);
  std::vector<char> text(count * width);
  if (!text.empty()) {
    this->ReadValues(dataset, handle, type, text.data());
  }
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* begin = text.data() + i * width;
    result.emplace_back(begin, strnlen(begin, width));
  }
  return result;
}

namespace {

bool MembersAreInside(hid_t record)
{
  const std::size_t size = H5Tget_size(record);
  const int members = H5Tget_nmembers(record);
  for (int m = 0; m < members; ++m) {
    const Handle member(H5Tget_member_type(record, static_cast<unsigned>(m)));
    const std::size_t offset = H5Tget_member_offset(record, static_cast<unsigned>(m));
    if (!member.Valid() || offset > size || H5Tget_size(member) > size - offset) {
      return false;
    }
  }
  return members > 0;
}

}  // namespace

void File::Compounds(
    const std::string& dataset, std::uint64_t expectedCount, hid_t memoryType, void* records) const
{
  const Handle handle = this->OpenDataset(dataset);
  CheckedCount(this->PathName, dataset, handle, static_cast<std::int64_t>(expectedCount));
  const Handle type(H5Dget_type(handle));
  if (H5Tget_class(type) != H5T_COMPOUND) {
    throw FileError(
        this->PathName, fmt::format("records in '{}'", dataset), "plain values", DamagedOrForeign);
  }
  // HDF5 (1.10.8 at least) does not look whether a damaged type's members lie inside the record, and crashes.
  if (!MembersAreInside(type)) {
    throw FileError(this->PathName, fmt::format("records in '{}'", dataset), "members outside the record",
        "The file is damaged");
  }
  this->ReadValues(dataset, handle, memoryType, records);
}

namespace {

/// The block of an array with dimensions `dims` that holds the `count` values from `first` on; false when
/// these are no block.
bool BlockOf(const std::vector<hsize_t>& dims, hsize_t first, hsize_t count, std::vector<hsize_t>& start,
    std::vector<hsize_t>& shape)
{
  const std::size_t rank = dims.size();
  start.assign(rank, 0);
  shape.assign(rank, 1);
  hsize_t inner = 1;  // values in one step along the axis at hand
  for (std::size_t axis = rank; axis-- > 0;) {
    const bool fits = count % inner == 0 && first % inner == 0;
    const hsize_t position = first / inner % dims[axis];
    if (fits && count / inner <= dims[axis] - position) {
      start[axis] = position;
      shape[axis] = count / inner;
      hsize_t outer = first / inner / dims[axis];
      for (std::size_t a = axis; a-- > 0;) {
        start[a] = outer % dims[a];
        outer /= dims[a];
      }
      return outer == 0;
    }
    if (dims[axis] > count / inner) {
      return false;
    }
    shape[axis] = dims[axis];
    inner *= dims[axis];
  }
  return false;
}

}  // namespace

void File::Range(const std::string& dataset, std::uint64_t first, std::uint64_t count, hid_t memoryType,
    void* values) const
{
  const Handle handle = this->OpenDataset(dataset);
  const Handle space(H5Dget_space(handle));
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> dims(std::max(rank, 0)), start, shape;
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  const bool empty = std::find(dims.begin(), dims.end(), 0u) != dims.end();
  if (rank < 1 || empty || count == 0 || !BlockOf(dims, first, count, start, shape)) {
    throw FileError(this->PathName, fmt::format("{} values from {} on in '{}'", count, first, dataset),
        "another shape", DamagedOrForeign);
  }
  const hsize_t length = count;
  const Handle memory(H5Screate_simple(1, &length, nullptr));
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  this->ReadValues(dataset, handle, memoryType, values, memory, space);
}

namespace {

/// Not valid where the object has no such attribute. Within a QuietScope.
Handle OpenAttribute(hid_t object, const std::string& name)
{
  const bool there = H5Aexists(object, name.c_str()) > 0;
  return Handle(there ? H5Aopen(object, name.c_str(), H5P_DEFAULT) : H5I_INVALID_HID);
}

}  // namespace

std::string TextAttribute(hid_t object, const std::string& name)
{
  constexpr std::size_t longest = 4096;
  QuietScope quiet;
  const Handle attribute = OpenAttribute(object, name);
  const Handle type(H5Aget_type(attribute));
  const Handle space(H5Aget_space(attribute));
  if (!attribute.Valid() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) {
    return {};
  }
  const Handle memory(H5Tcopy(H5T_C_S1));
  std::string text;
  if (H5Tis_variable_str(type) > 0) {
    char* value = nullptr;
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Aread(attribute, memory, &value) >= 0 && value) {
      text.assign(value, strnlen(value, longest));
      H5free_memory(value);
    }
    return text;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > longest) {
    return {};
  }
  // Some codes end texts with a 0, some do not.
  text.resize(size);
  if (H5Aread(attribute, type, text.data()) < 0) {
    return {};
  }
  text.resize(strnlen(text.data(), size));
  return text;
}

std::vector<double> NumbersAttribute(hid_t object, const std::string& name)
{
  constexpr hssize_t most = 4096;
  QuietScope quiet;
  const Handle attribute = OpenAttribute(object, name);
  const Handle type(H5Aget_type(attribute));
  const Handle space(H5Aget_space(attribute));
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const H5T_class_t kind = H5Tget_class(type);
  if (count < 1 || count > most || (kind != H5T_INTEGER && kind != H5T_FLOAT)) {
    return {};
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0) {
    values.clear();
  }
  return values;
}

std::vector<std::uint64_t> DimsOf(hid_t dataset)
{
  QuietScope quiet;
  const Handle space(H5Dget_space(dataset));
  hsize_t dims[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
  return {dims, dims + std::max(rank, 0)};
}

std::vector<std::string> LinkNames(const File& file, const std::string& group)
{
  std::vector<std::string> names;
  const Handle handle = file.OpenGroup(file.Id(), group);
  if (!handle.Valid()) {
    file.CheckObject(group);
    return names;
  }
  const auto keepName = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  QuietScope quiet;
  if (H5Literate(handle, H5_INDEX_NAME, H5_ITER_INC, nullptr, keepName, &names) < 0) {
    file.RequireSound(group, LastMessage());
  }
  return names;
}

}  // namespace patchio::hdf5
