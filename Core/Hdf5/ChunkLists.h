// The list of the chunks of a data set, read from any of the six types of index in HDF5 files.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/FileBytes.h"
#include "Hdf5/Trees.h"

#include <cstdint>

namespace patchio::hdf5 {

class ChunkGrid;

/// Reads the lists of the chunks of data sets. Not thread-safe. All methods throw Corrupt for damaged files,
/// and Error if the storage fails.
class ChunkLists
{
public:
  explicit ChunkLists(FileBytes& bytes) : Source(bytes), Trees(bytes) {}

  /// Fills `chunks`, an array of CountChunks(dataset) entries, with the chunks of `dataset`. Each chunk that
  /// was written lies inside the file. `treeK`: half the greatest number of children of a node of a version 1
  /// tree.
  void List(const Dataset& dataset, unsigned treeK, Chunk* chunks);

private:
  void ListTree1(
      const Dataset& dataset, unsigned treeK, std::uint64_t address, int parentLevel, const ChunkGrid& grid);
  void ListTree2(const Dataset& dataset, const ChunkGrid& grid);
  static void ListSingle(const Dataset& dataset, const ChunkGrid& grid);
  void ListImplicit(const Dataset& dataset, const ChunkGrid& grid);
  template <typename Array>
  static void ListArray(const Dataset& dataset, Array array, const ChunkGrid& grid);

  FileBytes& Source;
  Tree2Reader Trees;
};

}  // namespace patchio::hdf5
