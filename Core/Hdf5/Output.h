// Writing HDF5 files: plain groups, contiguous data sets, room for such, attributes, and errors that name the
// file.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/Image.h"
#include "Hdf5/Library.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// To be held by whoever writes where several threads may: the library is for one at a time.
std::mutex& OutputLock();

/// The type of records in memory.
Handle MakeRecordType(const std::vector<RecordMember>& members, std::size_t recordBytes);

/// What comes after Shuffle where chunks are compressed.
struct ChunkFilter
{
  int Number = 0;      ///< in The HDF Group's registry
  unsigned Level = 0;  ///< its parameter
};

/// A new HDF5 file. A call that fails throws Error. A file on disk is empty then.
///
/// Files are of HDF5's old style (superblock 0, symbol tables), whichever library writes them: all programs
/// with HDF5 1.6 or later read it, also those with the libraries inside ParaView and VisIt. The
/// new style would gain nothing, as PatchIO's own files have few groups, and times and checksums of their
/// own.
///
/// When the environment variable SOURCE_DATE_EPOCH is set, HDF5 stores no times, so that equal contents give
/// equal bytes.
class OutputFile
{
public:
  /// Replaces a file that is there.
  explicit OutputFile(const std::string& path);
  /// A file in memory, for TakeImage(); `path` is its name in messages. Data sets of `alignment` bytes or
  /// more begin at multiples of that. About so many objects will be in it, and lists of chunks of so many
  /// bytes.
  OutputFile(const std::string& path, std::uint64_t alignment, std::size_t objects, std::uint64_t listBytes);

  hid_t Id() const { return this->File; }
  Handle MakeGroup(const std::string& name) const { return this->MakeGroup(this->File, name); }
  Handle MakeGroup(hid_t parent, const std::string& name) const;

  /// A contiguous data set; `values` are of `memoryType` and stored as `fileType`. Returns it for attributes.
  Handle Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const;

  /// A contiguous data set whose values somebody else will write, from the offset in the file that this
  /// returns; makes the groups on the way to it. Throws Error where it has no values.
  std::uint64_t Reserve(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape) const;

  /// A data set whose chunks somebody else compresses and writes.
  Handle MakeChunked(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape,
      const std::vector<hsize_t>& chunk, const ChunkFilter& filter) const;
  /// Makes room for so many bytes of the chunk that begins there, in a file in memory, when all else is in
  /// it. Returns their offset in the file.
  std::uint64_t ReserveChunk(
      hid_t dataset, const std::vector<hsize_t>& begin, std::uint64_t bytes, std::uint32_t skippedFilters);

  /// Bytes of the file as it is now.
  std::uint64_t Size() const;

  void WriteText(hid_t object, const std::string& name, const std::string& value) const;
  void WriteNumbers(hid_t object, const std::string& name, const std::vector<double>& values) const;
  void WriteIntegers(hid_t object, const std::string& name, const std::vector<std::int64_t>& values) const;
  /// An attribute with a single value.
  void WriteAttribute(
      hid_t object, const std::string& name, hid_t fileType, hid_t memoryType, const void* value) const;

  /// Closes a file in memory and returns what is in it. All handles must be gone.
  FileImage TakeImage();
  /// Must be called last of a file on disk: a full disk often shows only when the file's caches are written.
  void Finish() const;

private:
  Handle Make(
      const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape, hid_t creation) const;
  void WriteList(hid_t object, const std::string& name, hid_t type, hsize_t count, const void* values) const;
  void Check(hid_t result, const std::string& expected) const;

  QuietScope Quiet;  // first member: lives longer than the file it silences
  std::string Path;
  Handle Creation;
  std::unique_ptr<FileImage> Image;  ///< of a file in memory
  Handle File;
};

}  // namespace patchio::hdf5
