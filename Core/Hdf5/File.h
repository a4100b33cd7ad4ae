// Access to the objects of an HDF5 file by name: data sets, attributes, small values. PatchIO's own reader
// parses the structure; the HDF5 library reads only the values that PatchIO cannot decode, see LibraryFile.h.
#pragma once

#include "Hdf5/Structure.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::hdf5 {

class LibraryFile;

/// A run of consecutive values of a virtual data set: the `Count` values from index `First` on are the values
/// of another data set from index `SourceFirst` on.
struct MappedRun
{
  std::string Path;     ///< path of the file of the other data set; empty: all values are hdf5::Dataset::Fill
  std::string Dataset;  ///< name of the other data set
  std::uint64_t First = 0, Count = 0, SourceFirst = 0;

  /// Returns whether the run contains the values with the indices `first` to `end` - 1.
  bool Contains(std::uint64_t first, std::uint64_t end) const
  {
    return first >= this->First && end <= this->First + this->Count;
  }
};

/// Returns the name `object` without its leading slashes.
std::string WithoutLeadingSlashes(const std::string& object);

/// A data set with its chunks or, if the data set is virtual, with its runs.
struct FoundDataset
{
  Dataset Info;
  std::vector<Chunk> Chunks;    ///< Chunked: all chunks, in the order of their numbers
  std::vector<MappedRun> Runs;  ///< Virtual: runs that together have all values, in the order of the values
};

/// A range of consecutive values of a data set, of one or several time steps.
struct DatasetRange
{
  std::uint64_t First = 0;       ///< index of the first value of the first step
  std::uint64_t Count = 0;       ///< number of values of each step
  std::uint64_t StepStride = 0;  ///< number of values from one step to the next, see ChunkedArray::StepStride
  int Steps = 1;
};

/// An HDF5 file, opened for reading. The file must not change while it is open. PatchIO does not follow
/// external links. Not thread-safe. All methods throw Error for damaged objects, for objects that PatchIO
/// does not support, and if the storage fails. The name of an object consists of the names of its groups and
/// its own name, with slashes between them; a leading slash is optional.
class File
{
public:
  /// Opens the file at `path`. Throws Error if the file is missing, unreadable, not HDF5, not supported,
  /// damaged, truncated, or still open for writing.
  explicit File(const std::string& path);
  /// Opens a file whose bytes `read` provides. `path`: name of the file in messages; `bytes`: size of the
  /// file. Throws Error like File(path).
  File(const std::string& path, ReadAt read, std::uint64_t bytes);
  ~File();
  const std::string& Path() const { return this->PathName; }
  /// Returns the size of the file in bytes.
  std::uint64_t SizeOfFile() const { return this->Bytes; }

  /// Returns whether there is an object with the name `object`, or a link that PatchIO does not follow.
  bool Has(const std::string& object) const;
  bool IsGroup(const std::string& object) const;
  /// Returns the names of all links in a group, sorted bytewise, or an empty list if there is no such group.
  std::vector<std::string> Names(const std::string& group) const;
  /// Returns the text of an attribute up to the first 0, or an empty text if there is no such object or
  /// attribute, or if the value of the attribute is not a single text. A text of variable length is cut off
  /// after 4096 bytes; a longer text of fixed length counts as empty.
  std::string Text(const std::string& object, const std::string& attribute) const;
  /// Returns the values of an attribute, or an empty list if there is no such object or attribute, or if the
  /// attribute has more than 4096 values or values that are not plain numbers (see Datatype::IsPlain).
  std::vector<double> Numbers(const std::string& object, const std::string& attribute) const;

  /// Returns the description of a data set. Throws Error if there is no such data set, or if a file with
  /// values of a virtual data set cannot be opened. A virtual data set has the type of its source data sets,
  /// and the layout Unsupported if PatchIO cannot read the values, for example because the values are in
  /// files outside the folder of this file.
  Dataset Describe(const std::string& dataset) const;
  /// Returns the description of a data set, with its chunks or runs, see FoundDataset. The layout becomes
  /// Library (Unsupported if the library must not be used) if the chunks of all data sets found so far are
  /// more than the file can contain. Throws Error if there is no such data set.
  FoundDataset Find(const std::string& dataset) const;

  /// Reads an entire data set of numbers, converted to double. `expectedCount`: number of values, or -1 for
  /// any number up to 2^28. Throws Error if the data set has another number of values.
  std::vector<double> Doubles(const std::string& dataset, std::int64_t expectedCount) const;
  /// Reads an entire data set of numbers, converted to int like Range(). Otherwise like Doubles().
  std::vector<int> Ints(const std::string& dataset, std::int64_t expectedCount) const;
  /// Reads an entire data set of texts with a fixed size of at most 4096 bytes. Returns each text up to its
  /// first 0. `expectedCount`: see Doubles().
  std::vector<std::string> Strings(const std::string& dataset, std::int64_t expectedCount) const;

  /// Returns the only value of a data set. Throws Error if the data set has another number of values.
  double Double(const std::string& dataset) const { return this->Doubles(dataset, 1)[0]; }
  int Int(const std::string& dataset) const { return this->Ints(dataset, 1)[0]; }
  std::string String(const std::string& dataset) const { return this->Strings(dataset, 1)[0]; }

  /// Reads `count` values of a data set from index `first` on; the last axis varies fastest. If T is an
  /// integer type, fractions are cut off. Values outside the range of T become the nearest value of T. T:
  /// double, int, std::int64_t.
  template <typename T>
  std::vector<T> Range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const;

  /// Reads an entire data set of records. `expectedCount`: number of records; `members`: names of the members
  /// to read, with their types and offsets in a result record; `recordBytes`: size of a result record;
  /// `records`: array of `expectedCount` result records. Throws Error if the data set has another number of
  /// records, or if a member is missing or has another type.
  void Records(const std::string& dataset, std::uint64_t expectedCount,
      const std::vector<RecordMember>& members, std::size_t recordBytes, void* records) const;

private:
  /// Runs `work` like WithErrorNames(), for an object of this file.
  template <typename Work>
  auto CallWithNames(const std::string& object, const Work& work) const
  {
    return WithErrorNames(
        this->PathName, [&] { return object; }, work);
  }
  void Open(ReadAt read);
  std::optional<std::uint64_t> Lookup(const std::string& object) const;
  std::uint64_t AddressOf(const std::string& dataset) const;
  std::uint64_t CheckedCount(
      const std::string& dataset, const Dataset& info, std::int64_t expectedCount) const;
  void CheckRange(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;
  bool ListChunks(const std::string& dataset, FoundDataset& found) const;
  /// The runs of a virtual data set, and the type of their values.
  struct VirtualSources
  {
    std::vector<MappedRun> Runs;
    Datatype Type;
    std::string Unsupported;  ///< reason why PatchIO cannot read the values, or empty
  };
  const VirtualSources& SourcesOf(const std::string& dataset, const Dataset& info) const;
  void FindSources(const std::string& dataset, const Dataset& info, VirtualSources& sources) const;
  MappedRun ReadMapping(
      const std::string& dataset, const VirtualMapping& mapping, const Dataset& info, Dataset& source) const;
  const File& SourceFile(const std::string& path, const std::string& dataset) const;
  std::vector<std::byte> ReadElements(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;
  void ReadChunks(const std::string& dataset, const FoundDataset& found, std::uint64_t first,
      std::uint64_t count, std::byte* into) const;
  template <typename T>
  std::vector<T> ReadVirtual(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;
  template <typename T>
  std::vector<T> ReadValues(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;

  static constexpr std::uint64_t MostMappings = 1 << 19;

  const std::string PathName;
  std::uint64_t Bytes = 0;
  // Results of earlier calls, to be reused:
  mutable std::uint64_t ListedChunks = 0;       ///< number of chunks that Find() has listed
  mutable std::map<std::string, Group> Groups;  ///< opened groups by path
  const std::unique_ptr<Structure> Reader;
  mutable std::unique_ptr<LibraryFile> Library;
  mutable std::map<std::string, VirtualSources> Sources;  ///< virtual data sets by name
  mutable std::uint64_t MappingCount = 0;  ///< number of mappings of all opened virtual data sets
  mutable std::map<std::string, std::unique_ptr<File>> SourceFiles;
};

/// Returns whether the file at `path` begins like an HDF5 file, possibly after a user block of at most 64
/// KiB. Does not throw.
bool HasSignature(const std::string& path);
/// Returns whether File(path) succeeds. Does not throw.
bool CanOpen(const std::string& path);

/// Appends a range of values to `table`, as a byte range, a chunked array or a library array. `type`: type of
/// the values; `name`: name of the data set; `file`: number of the data set's file in `table`. Returns the
/// location of the range, which is not added to LocationTable::Locations.
Location AppendRange(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetRange& range, int file, LocationTable& table);

}  // namespace patchio::hdf5
