// Writing HDF5 files: plain groups, contiguous data sets, room for such, attributes, and errors that name the
// file.
#pragma once

#include "Support/Hdf5.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// What lies in a file apart from values that somebody else writes.
struct FileImage
{
  std::vector<std::byte> Bytes;  ///< from its beginning
  std::uint64_t Size = 0;        ///< of the file, with room for the values
};

/// A new HDF5 file. A call that fails empties the file and throws Error.
///
/// When the environment variable SOURCE_DATE_EPOCH is set, HDF5 stores no times, so that equal contents give
/// equal bytes.
class OutputFile
{
public:
  /// Replaces a file that is there.
  explicit OutputFile(const std::string& path);
  /// A file in memory, for TakeImage(); `path` is its name in messages. Data sets of `alignment` bytes or more
  /// begin at multiples of that. About so many objects will be in it.
  OutputFile(const std::string& path, std::uint64_t alignment, std::size_t objects);

  Handle MakeGroup(const std::string& name) const { return this->MakeGroup(this->File, name); }
  Handle MakeGroup(hid_t parent, const std::string& name) const;

  /// A contiguous data set; `values` are of `memoryType` and stored as `fileType`. Returns it for attributes.
  Handle Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const;

  /// A contiguous data set whose values somebody else will write, from the offset in the file that this
  /// returns; makes the groups on the way to it. Throws Error where it has no values.
  std::uint64_t Reserve(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape) const;

  void WriteText(hid_t object, const std::string& name, const std::string& value) const;
  void WriteNumbers(hid_t object, const std::string& name, const std::vector<double>& values) const;
  void WriteIntegers(hid_t object, const std::string& name, const std::vector<std::int64_t>& values) const;
  /// An attribute with a single value.
  void WriteAttribute(
      hid_t object, const std::string& name, hid_t fileType, hid_t memoryType, const void* value) const;

  /// Of a file in memory, which is closed then. All handles must be gone.
  FileImage TakeImage();
  /// Must be called last of a file on disk: a full disk often shows only when the file's caches are written.
  void Finish() const;

private:
  void WriteList(hid_t object, const std::string& name, hid_t type, hsize_t count, const void* values) const;
  void Check(hid_t result, const std::string& expected) const;

  QuietScope Quiet;  // first member: lives longer than the file it silences
  std::string Path;
  Handle Creation;
  std::vector<std::byte> Memory;  ///< of a file in memory
  Handle File;
};

}  // namespace patchio::hdf5
