// An HDF5 file by the names of its objects: data sets, attributes, and small values. PatchIO's own reader of
// the structure finds them; only values that PatchIO cannot decode go through the library, see LibraryFile.h.
#pragma once

#include "Hdf5/Structure.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::hdf5 {

class LibraryFile;

/// Values of a virtual data set: `Count` from position `First` are those of another data set from position
/// `FirstThere`.
struct VirtualPart
{
  std::string Path;     ///< of the other data set's file; empty: all values are Dataset::Fill
  std::string Dataset;  ///< its name there
  std::uint64_t First = 0, Count = 0, FirstThere = 0;

  /// True when it has all values from position `first` up to `end`.
  bool Has(std::uint64_t first, std::uint64_t end) const
  {
    return first >= this->First && end <= this->First + this->Count;
  }
};

/// The name of an object without the slashes in front of it.
std::string Relative(const std::string& object);

/// A data set with its chunks, in the order of their numbers, or with its parts, in that of their values.
struct FoundDataset
{
  Dataset Info;
  std::vector<Chunk> Chunks;
  std::vector<VirtualPart> Parts;  ///< Virtual: they have all values
};

/// Values of a data set that follow each other in it.
struct DatasetPart
{
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepValues = 0;  ///< see ChunkedArray::StepValues
  int Steps = 1;                 ///< that the part has, each StepValues after the one before
};

/// An open file, for reading, which must not change meanwhile. External links are never followed. For one
/// thread. All methods throw Error: for damaged objects, for those that PatchIO does not support, and when
/// the storage fails. Names have slashes between groups; one at the beginning is optional.
class File
{
public:
  /// Throws Error when the file is missing, unreadable, not HDF5, truncated or still being written.
  explicit File(const std::string& path);
  /// The same through a storage. bytes: the size of the file.
  File(const std::string& path, ReadAt read, std::uint64_t bytes);
  ~File();
  const std::string& Path() const { return this->PathName; }
  std::uint64_t SizeOfFile() const { return this->Bytes; }

  /// True when there is an object or link of that name.
  bool Has(const std::string& object) const;
  bool IsGroup(const std::string& object) const;
  /// Names in a group, in the order of their bytes; none where there is no such group.
  std::vector<std::string> Names(const std::string& group) const;
  /// A text attribute of an object, whichever way it was written, without padding; empty when there is none.
  std::string Text(const std::string& object, const std::string& attribute) const;
  /// The values of an attribute of numbers; none where there is no such attribute.
  std::vector<double> Numbers(const std::string& object, const std::string& attribute) const;

  /// Describes a data set. Throws Error when it is not there. A virtual data set is Unsupported unless its
  /// values are in near files: in the folder of this file or below.
  Dataset Describe(const std::string& dataset) const;
  /// The same with its chunks, where it is in chunks that PatchIO can decode. Lists of chunks that no file of
  /// this size needs make it a data set for the library.
  FoundDataset Find(const std::string& dataset) const;

  /// Whole data sets, converted. `expectedCount` is checked before anything is allocated; -1 takes whatever
  /// is there, up to 2^28 values.
  std::vector<double> Doubles(const std::string& dataset, std::int64_t expectedCount) const;
  std::vector<int> Ints(const std::string& dataset, std::int64_t expectedCount) const;
  /// Texts of a fixed number of characters.
  std::vector<std::string> Strings(const std::string& dataset, std::int64_t expectedCount) const;

  /// The value of a data set that has one; an array of one does too.
  double Double(const std::string& dataset) const { return this->Doubles(dataset, 1)[0]; }
  int Int(const std::string& dataset) const { return this->Ints(dataset, 1)[0]; }
  std::string String(const std::string& dataset) const { return this->Strings(dataset, 1)[0]; }

  /// `count` values from position `first` of a data set, its last axis fastest. Numbers that T does not have
  /// become the nearest. T: double, int, std::int64_t.
  template <typename T>
  std::vector<T> Range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const;

  /// A data set of records, read by the names of their members into records of `recordBytes` bytes.
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
  // Facts about the file that calls have found so far.
  mutable std::uint64_t Listed = 0;             ///< chunks
  mutable std::map<std::string, Group> Groups;  ///< those that were opened, by their paths
  const std::unique_ptr<Structure> Reader;
  mutable std::unique_ptr<LibraryFile> Library;
  mutable std::map<std::string, VirtualSources> Sources;  ///< of virtual data sets
  mutable std::uint64_t Mapped = 0;                       ///< their parts
  mutable std::map<std::string, std::unique_ptr<File>> NearFiles;
};

/// True when the file begins as HDF5 files do. Does not throw.
bool HasSignature(const std::string& path);
/// True when File can open it. Does not throw.
bool CanOpen(const std::string& path);

/// Appends one component to the table: an extent, or a chunked or library array. `file`: its number in the
/// table.
Location AppendPart(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetPart& part, int file, LocationTable& table);

}  // namespace patchio::hdf5
