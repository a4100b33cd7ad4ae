// Values that only the HDF5 library can decode, which the library reads in a child process. A damaged file
// makes the library (version 1.10.8 at least) read beyond its memory, go round in circles, or take any amount
// of memory; the child process ends then, and nothing else.
//
// The environment variable PATCHIO_HDF5 changes this:
//   strict   such values are not read
//   trust    the library reads in this process
#pragma once

#include "Catalog/Extent.h"
#include "Io/ReadTask.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchio::hdf5 {

/// Numbers of one file, read by the library. For one thread.
class LibraryFile
{
public:
  explicit LibraryFile(const std::string& path);
  ~LibraryFile();
  const std::string& Path() const { return this->PathName; }

  /// Reads `count` values from position `first` of a data set, its last axis fastest, into `values` as
  /// `type`. The values must be one whole block of the data set: all, or some neighbours along one axis.
  /// Throws Error when they are not there, when the library cannot read them, and when it crashes, goes round
  /// in circles, or takes any amount of memory (limits grow with the file's size).
  void Read(
      const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values);

private:
  class Child;

  std::string PathName;
  std::unique_ptr<Child> Process;  ///< started at the first read
};

/// True when the library can undo a filter, and may. A child process answers for filters that are not the
/// library's own, which plug-ins have. The first call for a filter calls HDF5: other threads must not call
/// HDF5 meanwhile.
bool LibraryHasFilter(int filter);

}  // namespace patchio::hdf5

namespace patchio {

/// Reads tasks one after another; the file read last stays open.
class LibraryReader
{
public:
  /// One task of encoding Library. FinishTask() is included. Throws Error when the library cannot read it.
  void Read(const LocationTable& table, const Location& location, const ReadTarget& target);

private:
  std::unique_ptr<hdf5::LibraryFile> Current;
};

}  // namespace patchio
