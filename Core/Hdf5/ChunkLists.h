// The chunks of a data set, from any of the six kinds of lists that HDF5 keeps of them.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/FileBytes.h"
#include "Hdf5/Trees.h"

#include <array>
#include <cstdint>

namespace patchio::hdf5 {

/// For one thread. All methods throw Corrupt, and Error when the storage fails.
class ChunkLists
{
public:
  explicit ChunkLists(FileBytes& bytes) : Source(bytes), Trees(bytes) {}

  /// Fills ChunksOf(dataset) chunks; each lies inside the file. treeK: nodes of trees of version 1 have up to
  /// twice as many children.
  void List(const Dataset& dataset, unsigned treeK, Chunk* chunks);

private:
  using Indices = std::array<std::uint64_t, ChunkedArray::MaximumRank>;

  void ListTree1(const Dataset& dataset, unsigned treeK, std::uint64_t address, int above, Chunk* chunks);
  void ListTree2(const Dataset& dataset, Chunk* chunks);
  void ListSingle(const Dataset& dataset, Chunk* chunks);
  void ListImplicit(const Dataset& dataset, Chunk* chunks);
  template <typename Array>
  void ListArray(const Dataset& dataset, Array array, Chunk* chunks);
  /// begin: the indices of the chunk's first value.
  void Add(const Dataset& dataset, const Indices& begin, std::uint64_t address, std::uint64_t bytes,
      std::uint32_t skippedFilters, Chunk* chunks);
  /// at: the indices of the chunk among the chunks.
  void AddAt(const Dataset& dataset, const Indices& at, std::uint64_t address, std::uint64_t bytes,
      std::uint32_t skippedFilters, Chunk* chunks);

  FileBytes& Source;
  Tree2Reader Trees;
};

}  // namespace patchio::hdf5
