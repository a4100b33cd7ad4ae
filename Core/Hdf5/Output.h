// Creation of HDF5 files in memory: groups, contiguous and chunked data sets, space for values, attributes.
// The caller writes the files to the storage, together with the values.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/Library.h"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace patchio::hdf5 {

/// The contents of a new file, except for the values that the caller writes to the storage.
struct FileImage
{
  std::vector<std::byte> Bytes;  ///< bytes from the beginning of the file on
  std::uint64_t Size = 0;        ///< size of the file, including the space for the values
  bool DiscardValues = false;    ///< true: the library allocates space for values, but discards the values
  std::uint64_t DiscardedOffset = 0;  ///< offset in the file of the values that were discarded last
  /// Ranges of the file for the values: begin and end of each range in bytes, in any order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ValueRanges;
};

/// Sets the file driver of the file access property list `access`, so that the library creates files in
/// `image`. `image` must outlive the files. Returns whether the library accepts the driver.
bool SetImageDriver(FileImage& image, hid_t access);

/// Returns the lock that a thread must hold while it uses an OutputFile if another thread may use another
/// OutputFile: the HDF5 library is not thread-safe.
std::mutex& OutputLock();

/// The filter that follows the shuffle filter in compressed data sets.
struct ChunkFilter
{
  int Number = 0;      ///< number in The HDF Group's registry
  unsigned Level = 0;  ///< only parameter of the filter: the level of compression
};

/// A new HDF5 file in memory. CloseAndGetImage() returns the contents. All methods throw Error, with the name
/// of the file, if the library fails. Not thread-safe, see OutputLock().
///
/// The file has HDF5's old style (superblock 0, symbol tables) with any version of the library. All programs
/// with HDF5 1.6 or later can read the old style, including ParaView and VisIt. The new style has no
/// advantage for PatchIO's files, which have few groups, and store times and checksums in their own way.
///
/// The file contains no creation times, so that equal contents give equal bytes.
class OutputFile
{
public:
  /// Creates an empty file in memory. `path`: name of the file in messages; `alignment`: data sets of at
  /// least `alignment` bytes begin at multiples of `alignment`; `objects`: approximate number of groups and
  /// data sets; `listBytes`: approximate size of the chunk indices in bytes.
  OutputFile(const std::string& path, std::uint64_t alignment, std::size_t objects, std::uint64_t listBytes);

  hid_t Id() const { return this->File; }
  /// Creates the group `name` in the root group. Returns the group.
  Handle CreateGroup(const std::string& name) const { return this->CreateGroup(this->File, name); }
  /// Creates the group `name` in the group `parent`. Returns the new group.
  Handle CreateGroup(hid_t parent, const std::string& name) const;

  /// Creates the contiguous data set `name` in `group`, with the dimensions `shape`, slowest first, and
  /// writes its values. `values` have the type `memoryType` and are stored as `fileType`. Returns the data
  /// set, to which attributes can be added.
  Handle Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const;

  /// Creates a contiguous data set, with the groups on its path, and allocates space for the values, which
  /// the caller writes to the storage. Returns the offset of the values in the file. Throws Error if the data
  /// set has no values.
  std::uint64_t Reserve(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape);

  /// Creates a chunked data set, with the groups on its path. The caller compresses the chunks, by shuffle
  /// and `filter`, and writes the chunks to the storage. `chunk`: dimensions of a chunk. Returns the data
  /// set, for ReserveChunk().
  Handle CreateChunked(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape,
      const std::vector<hsize_t>& chunk, const ChunkFilter& filter) const;
  /// Allocates space for a chunk. `begin`: indices of the first value of the chunk; `bytes`: size of the
  /// compressed chunk; `skippedFilters`: see Chunk::SkippedFilters. Returns the offset of the chunk in the
  /// file. After the first ReserveChunk(), do not call Write(): the file would lack the values.
  std::uint64_t ReserveChunk(
      hid_t dataset, const std::vector<hsize_t>& begin, std::uint64_t bytes, std::uint32_t skippedFilters);

  /// Returns the current size of the file in bytes.
  std::uint64_t Size() const;

  /// Adds a text attribute to a group or data set.
  void WriteText(hid_t object, const std::string& name, const std::string& value) const;
  /// Adds an attribute with a list of numbers to a group or data set.
  void WriteNumbers(hid_t object, const std::string& name, const std::vector<double>& values) const;
  /// Adds an attribute with a list of integers to a group or data set.
  void WriteIntegers(hid_t object, const std::string& name, const std::vector<std::int64_t>& values) const;

  /// Closes the file and returns the contents of the file. The caller must have closed all handles. Call
  /// CloseAndGetImage() once.
  FileImage CloseAndGetImage();

private:
  Handle CreateDataset(
      const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape, hid_t creation) const;
  void WriteList(hid_t object, const std::string& name, hid_t type, hsize_t count, const void* values) const;
  void WriteValues(hid_t object, const std::string& name, hid_t type, hid_t space, const void* values) const;
  void Check(hid_t result, const std::string& expected) const;

  QuietScope Quiet;  // the first member, so that closing the file prints no errors
  std::string Path;
  Handle Creation;
  FileImage Image;
  Handle File;
};

}  // namespace patchio::hdf5
