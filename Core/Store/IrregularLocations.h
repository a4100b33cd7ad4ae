// Locations that are not ordinary extents, each under a key, as plain records that are used where they lie:
// like the rest of a shard they take memory once a machine, not once a rank.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Store/IndexShard.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace patchio {

/// Writes the table's locations, the i-th under `keys[i]`; keys ascend. Files and Problems are left out.
/// `numbers[i]` takes the place of file i. What the locations refer to must lie in their order without gaps,
/// as AppendLocation() makes it; but sparse materials may repeat the extents of the location before.
void PutIrregularLocations(ShardWriter& out, const std::vector<std::uint64_t>& keys, LocationTable table,
    const std::vector<std::uint32_t>& numbers);

struct IrregularEntry;
struct IrregularLibraryArray;

class IrregularLocations
{
public:
  IrregularLocations() = default;
  /// Takes what PutIrregularLocations() wrote; its bytes must stay. Throws Error when the bytes hold
  /// something else, refer to something that they do not hold, to a file of `files` or more or to a key of
  /// `keys` or more. What all locations together refer to is never more than the bytes hold, but for sparse
  /// materials, which repeat at most four extents.
  IrregularLocations(ShardReader& in, std::uint64_t files, std::uint64_t keys);

  std::uint64_t Size() const { return this->Entries.Count; }
  /// The key of the location at a position 0 .. Size() - 1.
  std::uint64_t KeyOf(std::uint64_t position) const;
  /// Position of the location with this key; Size() when there is none.
  std::uint64_t Find(std::uint64_t key) const;

  /// Appends all that the location refers to; gives its copy, which refers to `to`.
  /// `numberOf`: number that a file has in `to`. `step`: the wanted one, in arrays of several time
  /// steps; AllSteps: all of them.
  static constexpr int AllSteps = -1;
  Location Append(std::uint64_t position, LocationTable& to,
      const std::function<std::uint32_t(std::uint32_t)>& numberOf, int step = AllSteps) const;

  /// Throws Error unless the location can be carried out for this <patch, variable>: inside the files, of the
  /// size that the catalog asks for.
  void Check(std::uint64_t position, const Catalog& catalog, const PatchVariable& request,
      const std::vector<std::uint64_t>& fileBytes) const;

  /// Bytes that all locations have in their files; those that only the library knows do not count.
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
  void CheckExtents(std::uint64_t files) const;
  void CheckChunkedArrays(std::uint64_t files) const;
  void CheckLibraryArrays(std::uint64_t files) const;
  LibraryArray LibraryArrayAt(std::uint64_t index) const;

  List<IrregularEntry> Entries;
  List<Extent> Extents;
  List<ChunkedArray> ChunkedArrays;
  List<Chunk> Chunks;
  List<IrregularLibraryArray> LibraryArrays;
  List<char> Letters;  ///< of all names and reasons
};

}  // namespace patchio
