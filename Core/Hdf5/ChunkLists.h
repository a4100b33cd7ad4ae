// The chunks of a data set, from any of the six kinds of lists that HDF5 keeps of them.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/FileBytes.h"
#include "Hdf5/Trees.h"

#include <cstdint>

namespace patchio::hdf5 {

class ChunkGrid;

/// For one thread. All methods throw Corrupt, and Error when the storage fails.
class ChunkLists
{
public:
  explicit ChunkLists(FileBytes& bytes) : Source(bytes), Trees(bytes) {}

  /// Fills ChunksOf(dataset) chunks; each lies inside the file. treeK: nodes of trees of version 1 have up to
  /// twice as many children.
  void List(const Dataset& dataset, unsigned treeK, Chunk* chunks);

private:
  void ListTree1(
      const Dataset& dataset, unsigned treeK, std::uint64_t address, int above, const ChunkGrid& grid);
  void ListTree2(const Dataset& dataset, const ChunkGrid& grid);
  static void ListSingle(const Dataset& dataset, const ChunkGrid& grid);
  void ListImplicit(const Dataset& dataset, const ChunkGrid& grid);
  template <typename Array>
  static void ListArray(const Dataset& dataset, Array array, const ChunkGrid& grid);

  FileBytes& Source;
  Tree2Reader Trees;
};

}  // namespace patchio::hdf5
