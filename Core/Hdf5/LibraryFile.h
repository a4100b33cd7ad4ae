// Values that only the HDF5 library can decode; the library reads them in a child process. Damaged files make
// the library (at least version 1.10.8) read out of bounds, loop forever, or allocate any amount of memory;
// then only the child process ends.
//
// The environment variable PATCHIO_HDF5 changes this:
//   strict   PatchIO does not read such values
//   trust    the library reads in this process
#pragma once

#include "Catalog/Location.h"
#include "Io/ReadTask.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchio::hdf5 {

/// Reads numbers of one file with the HDF5 library. Not thread-safe.
class LibraryFile
{
public:
  explicit LibraryFile(const std::string& path);
  ~LibraryFile();
  const std::string& Path() const { return this->PathName; }

  /// Reads `count` values of a data set, its last axis fastest, from index `first` on into `values`,
  /// converted to `type`. The values must form one block of the data set: all of it, or a range along one
  /// axis. Throws Error if the values do not exist, if the library cannot read them, or if it crashes, loops
  /// forever, or allocates too much memory (the limits depend on the file's size).
  void Read(
      const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values);

private:
  class Child;

  std::string PathName;
  std::unique_ptr<Child> Process;  ///< started by the first read
};

/// Returns whether the library supports a filter and may be used. For filters from plug-ins, a child process
/// asks the library. The first call for a filter calls HDF5; no other thread may call HDF5 at the same time.
bool LibraryHasFilter(int filter);

}  // namespace patchio::hdf5

namespace patchio {

/// Carries out read tasks one after another. The last file stays open. Not thread-safe.
class LibraryReader
{
public:
  /// Carries out one task of encoding Library, including FinishTask(). Throws Error if the library cannot
  /// read the values.
  void Read(const LocationTable& table, const Location& location, const ReadTarget& target);

private:
  std::unique_ptr<hdf5::LibraryFile> Current;
};

}  // namespace patchio
