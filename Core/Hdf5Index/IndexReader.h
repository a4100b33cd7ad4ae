// Finds data sets in HDF5 files of the old style without the HDF5 library, which takes ten and more times as
// long and only one thread. Old style is what the library writes unless told otherwise: superblock version 0
// or 1, groups as symbol tables, object headers of version 1, contiguous or chunked data sets. The format is
// described in The HDF Group's "HDF5 File Format Specification", versions 1.0 to 3.0.
//
// At the first thing that it does not know, or that does not fit together, it throws Unfamiliar, and the
// caller asks the library. It reads nothing outside the file, and its time and memory are bounded by what is
// really there.
#pragma once

#include "Hdf5Index/Dataset.h"
#include "Hdf5Index/ObjectHeader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5index {

/// Where a group of the old style keeps its members.
struct Group
{
  std::uint64_t Tree = 0;   ///< B-tree of the symbol table
  std::uint64_t Names = 0;  ///< data of the local heap
  std::uint64_t NameBytes = 0;
};

/// One file at a time. For one thread; several may read one file each with a reader of its own. All methods
/// throw Unfamiliar, and Error when the storage fails.
class IndexReader
{
public:
  IndexReader();
  IndexReader(const IndexReader&) = delete;
  IndexReader& operator=(const IndexReader&) = delete;

  /// Turns to a file of so many bytes, which must be its size.
  void Open(std::shared_ptr<Source::File> file, std::uint64_t bytes);
  std::uint64_t FileBytes() const { return this->Bytes.FileBytes(); }

  // Objects are addressed by where their headers lie.
  std::uint64_t Root() const { return this->RootHeader; }
  Group OpenGroup(std::uint64_t header);
  /// The member of that name, which has no slash; none when the group does not have it.
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name);

  /// A data set whose layout is Contiguous, with all values inside the file, or Chunked. All others are
  /// unfamiliar.
  Dataset Describe(std::uint64_t header);

  /// Fills ChunksOf(dataset) chunks; each lies inside the file.
  void ListChunks(const Dataset& dataset, Chunk* chunks);

private:
  void ReadSuperblock();
  std::optional<std::uint64_t> FindSymbols(const Group& group, const std::string& name);
  int Compare(const Group& group, std::uint64_t name, const std::string& wanted);
  void WalkChunks(const Dataset& dataset, std::uint64_t address, int above, Chunk* chunks);

  Metadata Bytes;
  ObjectHeader Header;
  std::vector<std::byte> Node;  ///< the node of a B-tree or symbol table at hand
  std::vector<std::byte> Name;  ///< the name at hand
  std::uint64_t RootHeader = 0;
  unsigned SymbolsK = 0;  ///< symbol table nodes have up to twice as many entries,
  unsigned GroupK = 0;    ///< nodes of groups' B-trees up to twice as many children,
  unsigned ChunkK = 0;    ///< and nodes of chunks' B-trees
};

}  // namespace patchio::hdf5index
