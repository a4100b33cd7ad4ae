// The irregular locations of a shard (see ColumnHead for the regular ones), each with a key. Like the rest of
// a shard, these locations are stored as plain records and used in place, so that the locations take memory
// once per machine, not once per rank.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Store/IndexShard.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace patchio {

/// Appends the locations of `table` and their records to a shard. `keys[i]`: key of location i; keys ascend.
/// `numbers[i]`: number that replaces the file number i. The records must follow each other in the order of
/// the locations, without gaps, as AppendLocation() makes the records; but locations of sparse materials may
/// repeat the byte ranges of the preceding location.
void AppendIrregularLocations(ShardWriter& out, const std::vector<std::uint64_t>& keys, LocationTable table,
    const std::vector<std::uint32_t>& numbers);

struct IrregularEntry;
struct IrregularLibraryArray;

/// The locations that AppendIrregularLocations() has appended to a shard, used in place.
class IrregularLocations
{
public:
  IrregularLocations() = default;
  /// Reads the locations from `in`, whose bytes must outlive this object. `files`: number of files; `keys`:
  /// number of keys. Throws Error if the bytes are damaged, or refer to missing records, to a file number >=
  /// `files` or to a key >= `keys`. Afterwards, each record belongs to one location, except that several
  /// sparse materials may share their byte ranges, at most four per location.
  IrregularLocations(ShardReader& in, std::uint64_t files, std::uint64_t keys);

  /// Returns the number of locations.
  std::uint64_t Size() const { return this->Entries.Count; }
  /// Returns the key of the location at `position`, 0 .. Size() - 1.
  std::uint64_t KeyOf(std::uint64_t position) const;
  /// Returns the position of the location with the key `key`, or Size() if there is no such location.
  std::uint64_t Find(std::uint64_t key) const;

  static constexpr int AllSteps = -1;
  /// Appends the records of the location at `position` to `table`. Returns the location, which refers to
  /// these records, without adding it to `table`. `numberOf`: function that converts a file number of the
  /// index into a file number of `table`; `step`: time step to select from arrays of several time steps, or
  /// AllSteps.
  Location Append(std::uint64_t position, LocationTable& table,
      const std::function<std::uint32_t(std::uint32_t)>& numberOf, int step = AllSteps) const;

  /// Throws Error unless the location at `position` is valid for the patch and variable of `request`: its
  /// byte ranges and chunks must lie inside the files, and its arrays must have the number of values that the
  /// catalog states. `fileBytes`: size of each file.
  void Check(std::uint64_t position, const Catalog& catalog, const PatchVariable& request,
      const std::vector<std::uint64_t>& fileBytes) const;

private:
  /// An array of records in the shard.
  template <typename T>
  struct List
  {
    const T* Begin = nullptr;
    std::uint64_t Count = 0;
    const T& operator[](std::uint64_t i) const { return this->Begin[i]; }
  };
  template <typename T>
  static List<T> ReadList(ShardReader& in, std::uint64_t count);

  void CheckEntries(std::uint64_t keys) const;
  void CheckByteRanges(std::uint64_t files) const;
  void CheckChunkedArrays(std::uint64_t files) const;
  void CheckLibraryArrays(std::uint64_t files) const;
  LibraryArray LibraryArrayAt(std::uint64_t index) const;

  List<IrregularEntry> Entries;
  List<ByteRange> ByteRanges;
  List<ChunkedArray> ChunkedArrays;
  List<Chunk> Chunks;
  List<IrregularLibraryArray> LibraryArrays;
  List<char> Characters;  ///< of all names and reasons of LibraryArrays
};

}  // namespace patchio
