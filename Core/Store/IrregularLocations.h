// Locations other than ordinary byte ranges, each with a key. Like the rest of a shard, these locations are
// stored as plain records and used in place, so that they take memory once per machine, not once per rank.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Store/IndexShard.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace patchio {

/// Writes the locations of `table`, but not its Files and Problems. `keys[i]` is the key of location i; keys
/// ascend. `numbers[i]` replaces file i. The records that locations refer to must follow each other in the
/// order of the locations, without gaps, as AppendLocation() makes them; but sparse materials may repeat the
/// byte ranges of the preceding location.
void PutIrregularLocations(ShardWriter& out, const std::vector<std::uint64_t>& keys, LocationTable table,
    const std::vector<std::uint32_t>& numbers);

struct IrregularEntry;
struct IrregularLibraryArray;

/// Reads the output of PutIrregularLocations().
class IrregularLocations
{
public:
  IrregularLocations() = default;
  /// Uses the output of PutIrregularLocations() in place: the bytes must outlive this object. Throws Error
  /// when the bytes contain something else, or refer to missing records, to a file number >= `files` or to a
  /// key >= `keys`. The locations refer to each record once, except for sparse materials, which repeat at
  /// most four byte ranges.
  IrregularLocations(ShardReader& in, std::uint64_t files, std::uint64_t keys);

  std::uint64_t Size() const { return this->Entries.Count; }
  /// Returns the key of the location at `position`, 0 .. Size() - 1.
  std::uint64_t KeyOf(std::uint64_t position) const;
  /// Returns the position of the location with this key, or Size() if no location has it.
  std::uint64_t Find(std::uint64_t key) const;

  /// Appends the records that the location refers to to the table `to`. Returns the location with references
  /// into `to`. `numberOf` returns the number of a file in `to`. `step`: time step to take from arrays of
  /// several steps, or AllSteps.
  static constexpr int AllSteps = -1;
  Location Append(std::uint64_t position, LocationTable& to,
      const std::function<std::uint32_t(std::uint32_t)>& numberOf, int step = AllSteps) const;

  /// Throws Error unless the location at `position` is valid for this <patch, variable>: the bytes lie inside
  /// the files, whose sizes are `fileBytes`, and their number is that of the catalog.
  void Check(std::uint64_t position, const Catalog& catalog, const PatchVariable& request,
      const std::vector<std::uint64_t>& fileBytes) const;

  /// Returns the number of stored bytes of all locations, without arrays that only the HDF5 library can read.
  std::uint64_t StoredBytes() const;

private:
  template <typename T>
  struct List
  {
    const T* Begin = nullptr;
    std::uint64_t Count = 0;
    const T& operator[](std::uint64_t i) const { return this->Begin[i]; }
  };
  template <typename T>
  static List<T> Take(ShardReader& in, std::uint64_t count);

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
  List<char> Letters;  ///< all names and reasons
};

}  // namespace patchio
