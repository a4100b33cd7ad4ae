// B-trees of versions 1 and 2, and fractal heaps.
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

/// The head of a node of a version 1 tree.
struct Tree1Node
{
  static constexpr std::size_t HeadBytes = 24;  ///< offset of the first key

  int Level = 0;
  unsigned Children = 0;
};

/// Reads the head of a node. type: 0 for groups, 1 for chunks. above: level of the parent node, -1 for the
/// root. k: half the greatest number of children. Throws Corrupt.
Tree1Node ReadTree1Node(FileBytes& bytes, std::uint64_t address, unsigned type, int above, unsigned k);

/// The header of a version 2 tree: section III.A.2 of the specification.
struct Tree2
{
  static constexpr unsigned MostLevels = 16;

  unsigned Type = 0;
  std::uint32_t NodeBytes = 0;
  unsigned RecordBytes = 0;
  unsigned Depth = 0;  ///< 0: the root is a leaf
  std::uint64_t Root = NoAddress;
  unsigned RootRecords = 0;
  unsigned CountBytes = 0;                             ///< bytes of the number of records in a node
  std::array<unsigned, MostLevels + 1> MostRecords{};  ///< per node of each level, leaves first
  std::array<unsigned, MostLevels + 1> TotalBytes{};   ///< bytes of the number of records in a node and below
};

/// Reads version 2 trees. Not thread-safe. All methods throw Corrupt, and Error if the storage fails.
class Tree2Reader
{
public:
  explicit Tree2Reader(FileBytes& bytes) : Source(bytes) {}

  /// Reads the header of a tree. Throws Corrupt unless there is a tree of this type.
  Tree2 Open(std::uint64_t address, unsigned type);

  /// Visits records that follow each other in memory.
  using UseRun = std::function<void(const std::byte* records, unsigned count)>;
  /// Calls `use` with all records in order, those of a leaf at once.
  void Walk(const Tree2& tree, const UseRun& use);
  /// Visits a record. Returns true to end the walk.
  using Use = std::function<bool(const std::byte* record)>;
  /// Calls `use` with the records that have the hash of `name`, until `use` returns true. The hash is at
  /// offset `place` of a record, and records must be sorted by their hashes.
  void WalkNamed(const Tree2& tree, const std::string& name, std::size_t place, const Use& use);

private:
  /// Returns a negative number, 0, or a positive number if the record is before, among, or after the wanted
  /// records.
  using Order = std::function<int(const std::byte* record)>;
  void WalkAll(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level, const UseRun& use);
  bool WalkNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level,
      const Order& order, const Use& use);
  /// The reference of a node to one of its children.
  struct Child
  {
    std::uint64_t Address;
    unsigned Records;
  };
  Child ChildOf(const Tree2& tree, unsigned records, unsigned level, unsigned number) const;
  void ReadNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level);

  FileBytes& Source;
  std::array<std::vector<std::byte>, Tree2::MostLevels + 1> Nodes;  ///< current node of each level
  std::uint64_t NodesLeft = 0;  ///< nodes that a walk may read; at first as many as fit into the file
};

/// The header of a fractal heap: section III.G of the specification.
struct FractalHeap
{
  unsigned IdBytes = 0;      ///< size of an object's ID
  unsigned OffsetBytes = 0;  ///< size of an object's offset in the heap
  unsigned LengthBytes = 0;
  bool HasChecksums = false;     ///< blocks with objects have checksums
  std::uint64_t Width = 0;       ///< blocks in a row of a table
  std::uint64_t FirstBytes = 0;  ///< size of blocks in the first two rows; doubles with each further row
  std::uint64_t MostBytes = 0;   ///< greatest size of blocks with objects; larger blocks are tables
  std::uint64_t MostObjectBytes = 0;
  std::uint64_t Root = NoAddress;
  unsigned RootRows = 0;  ///< 0: the root is a block with objects
};

/// Reads objects of fractal heaps. Not thread-safe. All methods throw Corrupt, and Error if the storage
/// fails.
class FractalHeapReader
{
public:
  explicit FractalHeapReader(FileBytes& bytes) : Source(bytes) {}
  /// Forgets the checked blocks. Call it for each new file.
  void Forget() { this->Checked.clear(); }

  FractalHeap Open(std::uint64_t address);
  /// Returns the bytes of an object. id: its ID, `heap.IdBytes` bytes. The result is valid until the next
  /// call.
  const std::vector<std::byte>& Read(const FractalHeap& heap, const std::byte* id);

private:
  /// A block with objects.
  struct Block
  {
    std::uint64_t Address = 0, Bytes = 0;
    std::uint64_t Inside = 0;  ///< offset of the object in the block
  };
  Block Find(const FractalHeap& heap, std::uint64_t offset);
  void CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows);
  void CheckBlock(const FractalHeap& heap, const Block& block);

  FileBytes& Source;
  std::vector<std::byte> Object, Bytes;
  std::unordered_set<std::uint64_t> Checked;  ///< addresses of checked blocks and tables
};

}  // namespace patchio::hdf5
