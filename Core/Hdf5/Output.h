// Makes HDF5 files in memory: groups, contiguous and chunked data sets, space for values that the caller
// writes, attributes. The caller writes the files to the storage, together with the values. Errors contain
// the file's name.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/Image.h"
#include "Hdf5/Library.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// Returns the lock that a thread must hold while it writes if other threads may write: the HDF5 library is
/// not thread-safe.
std::mutex& OutputLock();

/// The filter after Shuffle in compressed data sets.
struct ChunkFilter
{
  int Number = 0;      ///< number in The HDF Group's registry
  unsigned Level = 0;  ///< parameter of the filter
};

/// A new HDF5 file in memory, for TakeImage(). All methods throw Error if they fail. Not thread-safe, see
/// OutputLock().
///
/// Files have HDF5's old style (superblock 0, symbol tables), whichever version of the library writes them.
/// All programs with HDF5 1.6 or later can read them, including the libraries inside ParaView and VisIt. The
/// new style has no advantage for PatchIO's files, which have few groups, and times and checksums of their
/// own.
///
/// Files contain no creation times, so that equal contents give equal bytes.
class OutputFile
{
public:
  /// `path`: the file's name in messages. `alignment`: data sets of at least `alignment` bytes begin at
  /// multiples of `alignment`. `objects`: approximate number of groups and data sets; `listBytes`:
  /// approximate size of the indices of chunks.
  OutputFile(const std::string& path, std::uint64_t alignment, std::size_t objects, std::uint64_t listBytes);

  hid_t Id() const { return this->File; }
  Handle MakeGroup(const std::string& name) const { return this->MakeGroup(this->File, name); }
  Handle MakeGroup(hid_t parent, const std::string& name) const;

  /// Writes a contiguous data set. `values` have the type `memoryType` and are stored as `fileType`. Returns
  /// the data set, to which attributes can be added.
  Handle Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const;

  /// Creates a contiguous data set, with the groups on its path, whose values the caller writes itself.
  /// Returns their offset in the file. Throws Error if the data set has no values.
  std::uint64_t Reserve(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape);

  /// Creates a chunked data set whose chunks the caller compresses and writes itself.
  Handle MakeChunked(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape,
      const std::vector<hsize_t>& chunk, const ChunkFilter& filter) const;
  /// Allocates space for the chunk whose first value has the indices `begin`. Returns its offset in the file.
  /// Call it after everything else was created.
  std::uint64_t ReserveChunk(
      hid_t dataset, const std::vector<hsize_t>& begin, std::uint64_t bytes, std::uint32_t skippedFilters);

  /// Returns the current size of the file in bytes.
  std::uint64_t Size() const;

  void WriteText(hid_t object, const std::string& name, const std::string& value) const;
  void WriteNumbers(hid_t object, const std::string& name, const std::vector<double>& values) const;
  void WriteIntegers(hid_t object, const std::string& name, const std::vector<std::int64_t>& values) const;

  /// Closes the file and returns its contents. All handles must have been closed.
  FileImage TakeImage();

private:
  Handle Make(
      const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape, hid_t creation) const;
  void WriteList(hid_t object, const std::string& name, hid_t type, hsize_t count, const void* values) const;
  void WriteValues(hid_t object, const std::string& name, hid_t type, hid_t space, const void* values) const;
  void Check(hid_t result, const std::string& expected) const;

  QuietScope Quiet;  // first member: lives longer than the file it silences
  std::string Path;
  Handle Creation;
  FileImage Image;
  Handle File;
};

}  // namespace patchio::hdf5
