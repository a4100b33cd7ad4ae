// Reads an HDF5 file by the names of its objects: data sets, attributes, small values. PatchIO's own reader
// parses the structure; only values that PatchIO cannot decode are read by the HDF5 library, see
// LibraryFile.h.
#pragma once

#include "Hdf5/Structure.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::hdf5 {

class LibraryFile;

/// A part of a virtual data set: `Count` values from index `First` on, which are stored in another data set
/// from index `FirstThere` on.
struct VirtualPart
{
  std::string Path;     ///< file of the other data set; empty: all values are Dataset::Fill
  std::string Dataset;  ///< name of the other data set
  std::uint64_t First = 0, Count = 0, FirstThere = 0;

  /// Returns whether the part contains all values with indices first .. end - 1.
  bool Has(std::uint64_t first, std::uint64_t end) const
  {
    return first >= this->First && end <= this->First + this->Count;
  }
};

/// Returns the name of an object without leading slashes.
std::string WithoutLeadingSlashes(const std::string& object);

/// A data set with its chunks, ordered by their numbers, or with its parts, ordered by their first values.
struct FoundDataset
{
  Dataset Info;
  std::vector<Chunk> Chunks;
  std::vector<VirtualPart> Parts;  ///< Virtual: the parts together have all values
};

/// A range of values of a data set.
struct DatasetPart
{
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepValues = 0;  ///< see ChunkedArray::StepValues
  int Steps = 1;                 ///< number of steps of the part, StepValues values apart
};

/// An HDF5 file, opened for reading. The file must not change while it is open. External links are not
/// followed. Not thread-safe. All methods throw Error for damaged objects, for objects that PatchIO does not
/// support, and if the storage fails. Names of objects have slashes between groups; a leading slash is
/// optional.
class File
{
public:
  /// Throws Error if the file is missing, unreadable, not HDF5, truncated, or still being written.
  explicit File(const std::string& path);
  /// Opens a file whose bytes `read` provides. `path`: name for messages; `bytes`: size of the file. Throws
  /// Error like File(path).
  File(const std::string& path, ReadAt read, std::uint64_t bytes);
  ~File();
  const std::string& Path() const { return this->PathName; }
  std::uint64_t SizeOfFile() const { return this->Bytes; }

  /// Returns whether there is an object or a link with this name.
  bool Has(const std::string& object) const;
  bool IsGroup(const std::string& object) const;
  /// Returns the names in a group, sorted bytewise, or nothing if there is no such group.
  std::vector<std::string> Names(const std::string& group) const;
  /// Returns a text attribute of fixed or variable length, without padding, or an empty text if there is
  /// none.
  std::string Text(const std::string& object, const std::string& attribute) const;
  /// Returns the values of a numeric attribute, or nothing if there is no such attribute.
  std::vector<double> Numbers(const std::string& object, const std::string& attribute) const;

  /// Describes a data set. Throws Error if it does not exist. A virtual data set is Unsupported unless its
  /// values are in files in the folder of this file or below.
  Dataset Describe(const std::string& dataset) const;
  /// Describes a data set and lists its chunks if PatchIO can decode them. A data set with more chunks than
  /// the file can contain is left to the HDF5 library.
  FoundDataset Find(const std::string& dataset) const;

  /// Reads an entire data set, converted to the type of the result. Checks `expectedCount` before the
  /// allocation of memory; -1 accepts any number of values up to 2^28.
  std::vector<double> Doubles(const std::string& dataset, std::int64_t expectedCount) const;
  std::vector<int> Ints(const std::string& dataset, std::int64_t expectedCount) const;
  /// Reads a data set of texts with a fixed number of characters.
  std::vector<std::string> Strings(const std::string& dataset, std::int64_t expectedCount) const;

  /// Reads the single value of a data set, a scalar or an array of one value.
  double Double(const std::string& dataset) const { return this->Doubles(dataset, 1)[0]; }
  int Int(const std::string& dataset) const { return this->Ints(dataset, 1)[0]; }
  std::string String(const std::string& dataset) const { return this->Strings(dataset, 1)[0]; }

  /// Reads `count` values of a data set, its last axis fastest, from index `first` on. Values out of the
  /// range of T become the nearest value of T. T: double, int, std::int64_t.
  template <typename T>
  std::vector<T> Range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const;

  /// Reads a data set of records. `members` selects the members by name and tells their types and offsets in
  /// `records`, an array of `expectedCount` records with `recordBytes` bytes each.
  void Records(const std::string& dataset, std::uint64_t expectedCount,
      const std::vector<RecordMember>& members, std::size_t recordBytes, void* records) const;

private:
  template <typename Work>
  auto Guarded(const std::string& object, const Work& work) const
  {
    return NameErrors(
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
  /// The parts of a virtual data set, and the type of their values.
  struct VirtualSources
  {
    std::vector<VirtualPart> Parts;
    Datatype Type;
  };
  const VirtualSources& SourcesOf(const std::string& dataset, const Dataset& info) const;
  VirtualPart PartOf(
      const std::string& dataset, const VirtualMapping& mapping, const Dataset& info, Dataset& other) const;
  const File& NearFile(const std::string& path, const std::string& dataset) const;
  std::vector<std::byte> Stored(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;
  void ReadChunks(const std::string& dataset, const FoundDataset& found, std::uint64_t first,
      std::uint64_t count, std::byte* into) const;
  template <typename T>
  std::vector<T> Gather(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;
  template <typename T>
  std::vector<T> Values(
      const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const;

  static constexpr std::uint64_t MostMappings = 1 << 19;

  const std::string PathName;
  std::uint64_t Bytes = 0;
  // Results of earlier calls.
  mutable std::uint64_t Listed = 0;             ///< number of chunks listed by Find()
  mutable std::map<std::string, Group> Groups;  ///< opened groups by path
  const std::unique_ptr<Structure> Reader;
  mutable std::unique_ptr<LibraryFile> Library;
  mutable std::map<std::string, VirtualSources> Sources;  ///< virtual data sets by name
  mutable std::uint64_t Mapped = 0;                       ///< number of parts of virtual data sets
  mutable std::map<std::string, std::unique_ptr<File>> NearFiles;
};

/// Returns whether the file begins like an HDF5 file, possibly after a user block. Does not throw.
bool HasSignature(const std::string& path);
/// Returns whether a File can be made for this path. Does not throw.
bool CanOpen(const std::string& path);

/// Appends the location of one component to the table, as a byte range, a chunked array or a library array.
/// `name`: name of the data set; `file`: number of its file in the table. Returns the location.
Location AppendPart(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetPart& part, int file, LocationTable& table);

}  // namespace patchio::hdf5
