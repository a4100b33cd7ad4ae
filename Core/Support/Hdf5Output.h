// Writing HDF5 files: plain groups, contiguous data sets and attributes, and errors that name the file.
#pragma once

#include "Support/Hdf5.h"

#include <string>
#include <vector>

namespace patchio::hdf5 {

/// A new HDF5 file. A call that fails empties the file and throws Error.
///
/// When the environment variable SOURCE_DATE_EPOCH is set, HDF5 stores no times, so that equal contents give
/// equal bytes.
class OutputFile
{
public:
  /// Replaces a file that is there.
  explicit OutputFile(const std::string& path);

  Handle MakeGroup(const std::string& name) const { return this->MakeGroup(this->File, name); }
  Handle MakeGroup(hid_t parent, const std::string& name) const;

  /// A contiguous data set; `values` are of `memoryType` and stored as `fileType`. Returns it for attributes.
  Handle Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const;

  /// An attribute with a single value.
  void WriteAttribute(
      hid_t object, const std::string& name, hid_t fileType, hid_t memoryType, const void* value) const;

  /// Must be called last: a full disk often shows only when the file's caches are written.
  void Finish() const;

private:
  void Check(hid_t result, const std::string& expected) const;

  QuietScope Quiet;  // first member: lives longer than the file it silences
  std::string Path;
  Handle Creation;
  Handle File;
};

}  // namespace patchio::hdf5
