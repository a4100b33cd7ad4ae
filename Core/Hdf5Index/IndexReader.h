// Finds data sets in HDF5 files without the HDF5 library, which takes ten and more times as long and only one
// thread. It knows files of the old style (superblock 0 and 1, groups as symbol tables, object headers of
// version 1) and of the new style (superblock 2 and 3, object headers of version 2, links in headers or in
// fractal heaps), compact, contiguous and chunked data sets, and all lists of chunks. The format is described
// in The HDF Group's "HDF5 File Format Specification", versions 1.0 to 3.0.
//
// At the first thing that it does not know, or that does not fit together, it throws Unfamiliar, and the
// caller asks the library. It reads nothing outside the file, and its time and memory are bounded by what is
// really there.
#pragma once

#include "Hdf5Index/ChunkLists.h"
#include "Hdf5Index/Dataset.h"
#include "Hdf5Index/FractalHeap.h"
#include "Hdf5Index/ObjectHeader.h"
#include "Hdf5Index/Tree2.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5index {

class DatasetMessages;

/// A group, as far as its members are found by it.
struct Group
{
  enum class Style : std::uint8_t
  {
    Symbols,  ///< in a symbol table: the old style
    Compact,  ///< in its object header
    Dense     ///< in a fractal heap, found by a tree of hashes
  };

  Style Members = Style::Symbols;
  // Symbols
  std::uint64_t Tree = 0;   ///< B-tree of the symbol table
  std::uint64_t Names = 0;  ///< data of the local heap
  std::uint64_t NameBytes = 0;
  // Compact
  std::uint64_t Header = 0;
  // Dense
  FractalHeap Links;
  Tree2 Hashes;
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
  /// See Metadata::CompareChecksums().
  void CompareChecksums(bool compare) { this->Bytes.CompareChecksums(compare); }
  std::uint64_t FileBytes() const { return this->Bytes.EndAddress() + this->Bytes.BaseAddress(); }

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
  void FindSuperblock();
  void ReadSuperblock1(std::uint64_t base);
  void ReadSuperblock2(std::uint64_t base);
  void ReadExtension(std::uint64_t header);
  Group OpenSymbols(const Message& message);
  Group OpenNewGroup(std::uint64_t header, const Message& message);
  std::optional<std::uint64_t> FindSymbol(const Group& group, const std::string& name);
  std::optional<std::uint64_t> FindSymbolNode(const Group& group, const std::string& name);
  std::optional<std::uint64_t> FindCompact(const Group& group, const std::string& name);
  std::optional<std::uint64_t> FindDense(const Group& group, const std::string& name);
  int Compare(const Group& group, std::uint64_t name, const std::string& wanted);
  void TakeSharedType(const Message& message, DatasetMessages& messages);

  Metadata Bytes;
  ObjectHeader Header, GroupHeader, SharedHeader;
  FractalHeapReader Heaps;
  Tree2Reader Trees;
  ChunkLists Lists;
  std::vector<std::byte> Node;  ///< the node of a B-tree or symbol table at hand
  std::vector<std::byte> Name;  ///< the name at hand
  std::uint64_t RootHeader = 0;
  unsigned SymbolsK = 0;  ///< symbol table nodes have up to twice as many entries,
  unsigned GroupK = 0;    ///< nodes of groups' B-trees up to twice as many children,
  unsigned ChunkK = 0;    ///< and nodes of chunks' B-trees
};

}  // namespace patchio::hdf5index
