// Reading of values that only the HDF5 library can decode, in a child process. Damaged files make the library
// (for example version 1.10.8) read out of bounds, loop forever, or allocate any amount of memory; then only
// the child process ends.
//
// The environment variable PATCHIO_HDF5 changes this behavior:
//   strict   PatchIO reads no values with the library
//   trust    the library reads in this process
#pragma once

#include "Catalog/Location.h"
#include "Io/ReadTask.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchio::hdf5 {

/// Reads numbers from one file with the HDF5 library. Not thread-safe.
class LibraryFile
{
public:
  explicit LibraryFile(const std::string& path);
  ~LibraryFile();
  const std::string& Path() const { return this->PathName; }

  /// Reads `count` values (at least 1) of a data set from index `first` on, converted to `type`, into
  /// `values`. The last axis varies fastest. The values must form one block of the data set, for example the
  /// entire data set or a range along the first axis. Throws Error if the values do not exist, or if the
  /// library cannot read the values, crashes, loops forever, or allocates too much memory (the limits depend
  /// on the sizes of the file and of the values).
  void Read(
      const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values);

private:
  class Child;

  std::string PathName;
  std::unique_ptr<Child> Process;  ///< started by the first read
};

/// Returns whether PatchIO may use the library and the library has the filter with the number `filter`. Only
/// the first 64 different filters are queried; others count as missing. A child process queries the library
/// for filters from plug-ins, unless LibraryIsTrusted(). The first call for a filter calls HDF5; no other
/// thread may call HDF5 at the same time.
bool LibraryHasFilter(int filter);

}  // namespace patchio::hdf5

namespace patchio {

/// Carries out read tasks whose values only the HDF5 library can decode. The file of the last task stays
/// open. Not thread-safe.
class LibraryReader
{
public:
  /// Carries out one read task, including FinishTask(). `location` must have the encoding Encoding::Library
  /// and refer to `table`. `target`: destinations of the values. Throws Error if the library cannot read the
  /// values.
  void Read(const LocationTable& table, const Location& location, const ReadTarget& target);

private:
  std::unique_ptr<hdf5::LibraryFile> Current;
};

}  // namespace patchio
