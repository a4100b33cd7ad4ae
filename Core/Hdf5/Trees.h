// The B-trees of versions 1 and 2, and the fractal heaps of HDF5 files.
#pragma once

#include "Hdf5/FileBytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace patchio::hdf5 {

/// The head of a node of a version 1 B-tree.
struct Tree1Node
{
  static constexpr std::size_t HeadBytes = 24;  ///< offset of the first key

  int Level = 0;  ///< 0: a leaf
  unsigned Children = 0;
};

/// Reads the head of the node at `address`. `type`: 0 for groups, 1 for chunks; `parentLevel`: level of the
/// parent node, or -1 for the root; `k`: half the greatest number of children. Throws Corrupt if there is no
/// such node, and Error if the storage fails.
Tree1Node ReadTree1Node(FileBytes& bytes, std::uint64_t address, unsigned type, int parentLevel, unsigned k);

/// The header of a version 2 B-tree, see section III.A.2 of the specification.
struct Tree2
{
  static constexpr unsigned MostLevels = 16;

  unsigned Type = 0;
  std::uint32_t NodeBytes = 0;
  unsigned RecordBytes = 0;
  unsigned Depth = 0;  ///< 0: the root is a leaf
  std::uint64_t Root = NoAddress;
  unsigned RootRecords = 0;
  unsigned CountBytes = 0;  ///< size of a stored number of records of one node
  /// Greatest number of records of a node, for each level, leaves first.
  std::array<unsigned, MostLevels + 1> MostRecords{};
  /// Size in bytes, for each level, of the stored number of records of a node and all nodes below; 0 for
  /// leaves, for which the number is not stored.
  std::array<unsigned, MostLevels + 1> TotalBytes{};
};

/// Reads version 2 B-trees. Not thread-safe. All methods throw Corrupt for damaged files, and Error if the
/// storage fails.
class Tree2Reader
{
public:
  explicit Tree2Reader(FileBytes& bytes) : Source(bytes) {}

  /// Reads the header of the tree at `address`. Throws Corrupt unless there is a tree of type `type`.
  Tree2 Open(std::uint64_t address, unsigned type);

  /// A function that visits `count` records, one after another in memory.
  using RunVisitor = std::function<void(const std::byte* records, unsigned count)>;
  /// Calls `visit` for all records in order; the records of a leaf are visited by a single call.
  void Walk(const Tree2& tree, const RunVisitor& visit);
  /// A function that visits a record. Returns true to end the walk.
  using RecordVisitor = std::function<bool(const std::byte* record)>;
  /// Calls `visit` for the records that have the hash of `name`, until `visit` returns true. `hashOffset`:
  /// offset of the hash in a record. Records must be sorted by hash.
  void WalkNamed(
      const Tree2& tree, const std::string& name, std::size_t hashOffset, const RecordVisitor& visit);

private:
  /// A function that returns a negative number, 0, or a positive number if the record is before, among, or
  /// after the records to visit.
  using Order = std::function<int(const std::byte* record)>;
  void WalkAll(
      const Tree2& tree, std::uint64_t address, unsigned records, unsigned level, const RunVisitor& visit);
  bool WalkNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level,
      const Order& order, const RecordVisitor& visit);
  /// The reference of a node to one of its children.
  struct Child
  {
    std::uint64_t Address;
    unsigned Records;
  };
  Child ChildOf(const Tree2& tree, unsigned records, unsigned level, unsigned number) const;
  void ReadNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level);

  FileBytes& Source;
  /// Bytes of the current node of each level.
  std::array<std::vector<std::byte>, Tree2::MostLevels + 1> Nodes;
  std::uint64_t NodesLeft = 0;  ///< number of nodes that the walk may still read
};

/// The header of a fractal heap, see section III.G of the specification.
struct FractalHeap
{
  unsigned IdBytes = 0;       ///< size of the ID of an object
  unsigned OffsetBytes = 0;   ///< size of an offset in the heap
  unsigned LengthBytes = 0;   ///< size of the length of an object
  bool HasChecksums = false;  ///< true: blocks with objects have checksums
  std::uint64_t Width = 0;    ///< number of blocks in a row of a table
  /// Size of blocks in the first two rows; the size doubles with each further row.
  std::uint64_t FirstBytes = 0;
  std::uint64_t MostBytes = 0;        ///< greatest size of blocks with objects; larger blocks are tables
  std::uint64_t MostObjectBytes = 0;  ///< greatest size of an object
  std::uint64_t Root = NoAddress;
  unsigned RootRows = 0;  ///< number of rows of the root table; 0: the root is a block with objects
};

/// Reads objects of fractal heaps. Not thread-safe. All methods throw Corrupt for damaged files, and Error if
/// the storage fails.
class FractalHeapReader
{
public:
  explicit FractalHeapReader(FileBytes& bytes) : Source(bytes) {}
  /// Clears the list of checked blocks. Call Reset() when FileBytes switches to another file.
  void Reset() { this->CheckedBlocks.clear(); }

  /// Reads the header of the heap at `address`. Throws Unsupported for heaps with filters.
  FractalHeap Open(std::uint64_t address);
  /// Returns the bytes of an object, valid until the next call. `id`: ID of the object, heap.IdBytes bytes.
  /// Throws Unsupported for huge and tiny objects.
  const std::vector<std::byte>& Read(const FractalHeap& heap, const std::byte* id);

private:
  /// A block with objects, and the position of an object in the block.
  struct Block
  {
    std::uint64_t Address = 0, Bytes = 0;
    std::uint64_t Inside = 0;  ///< offset of the object in the block
  };
  /// Returns the block that contains the byte `offset` of the heap.
  Block FindBlock(const FractalHeap& heap, std::uint64_t offset);
  void CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows);
  void CheckBlock(const FractalHeap& heap, const Block& block);

  FileBytes& Source;
  std::vector<std::byte> Object, Bytes;
  std::unordered_set<std::uint64_t> CheckedBlocks;  ///< addresses of checked blocks and tables
};

}  // namespace patchio::hdf5
