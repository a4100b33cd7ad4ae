// The chunks of a data set, from any of the six kinds of lists that HDF5 keeps of them.
#pragma once

#include "Hdf5Index/Dataset.h"
#include "Hdf5Index/Metadata.h"
#include "Hdf5Index/Tree2.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace patchio::hdf5index {

/// For one thread. All methods throw Unfamiliar, and Error when the storage fails.
class ChunkLists
{
public:
  explicit ChunkLists(Metadata& bytes) : Source(bytes), Trees(bytes) {}

  /// Fills ChunksOf(dataset) chunks; each lies inside the file. treeK: nodes of trees of version 1 have up to
  /// twice as many children.
  void List(const Dataset& dataset, unsigned treeK, Chunk* chunks);

private:
  /// Returns the element of the chunk with that number; null where the chunk was never written.
  using ElementAt = std::function<const std::byte*(std::uint64_t index)>;

  void ListTree1(const Dataset& dataset, unsigned treeK, std::uint64_t address, int above, Chunk* chunks);
  void ListTree2(const Dataset& dataset, Chunk* chunks);
  void ListSingle(const Dataset& dataset, Chunk* chunks);
  void ListImplicit(const Dataset& dataset, Chunk* chunks);
  void ListFixedArray(const Dataset& dataset, Chunk* chunks);
  void ListExtensibleArray(const Dataset& dataset, Chunk* chunks);
  void ListElements(
      const Dataset& dataset, std::size_t elementBytes, const ElementAt& elementAt, Chunk* chunks);
  void Add(const Dataset& dataset, const std::uint64_t* begin, std::uint64_t address, std::uint64_t bytes,
      std::uint32_t skippedFilters, Chunk* chunks);

  Metadata& Source;
  Tree2Reader Trees;
};

}  // namespace patchio::hdf5index
