// B-trees of both versions, and fractal heaps.
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

/// Head of a node of a tree of version 1.
struct Tree1Node
{
  static constexpr std::size_t HeadBytes = 24;  ///< before the first key

  int Level = 0;
  unsigned Children = 0;
};

/// type: 0: of groups, 1: of chunks. above: the level of the node that led here, -1 for the root. k: a node
/// has up to twice as many children. Throws Corrupt.
Tree1Node ReadTree1Node(FileBytes& bytes, std::uint64_t address, unsigned type, int above, unsigned k);

/// The header of a tree of version 2: section III.A.2 of the specification.
struct Tree2
{
  static constexpr unsigned MostLevels = 16;

  unsigned Type = 0;
  std::uint32_t NodeBytes = 0;
  unsigned RecordBytes = 0;
  unsigned Depth = 0;  ///< 0: the root is a leaf
  std::uint64_t Root = NoAddress;
  unsigned RootRecords = 0;
  unsigned CountBytes = 0;                             ///< of the number of records in a node
  std::array<unsigned, MostLevels + 1> MostRecords{};  ///< of nodes of each level, leaves first
  std::array<unsigned, MostLevels + 1> TotalBytes{};   ///< of the number of records in a node and below it
};

/// Reads the nodes of trees. For one thread. All methods throw Corrupt, and Error when the storage fails.
class Tree2Reader
{
public:
  explicit Tree2Reader(FileBytes& bytes) : Source(bytes) {}

  /// Throws Corrupt unless a tree of that type is there.
  Tree2 Open(std::uint64_t address, unsigned type);

  /// Returns true to end the walk.
  using Use = std::function<bool(const std::byte* record)>;
  /// Calls `use` with all records in their order until it returns true.
  void Walk(const Tree2& tree, const Use& use);
  /// The same with those that have the hash of a name, at byte `place`, which their order must follow.
  void WalkNamed(const Tree2& tree, const std::string& name, std::size_t place, const Use& use);

private:
  /// Negative, 0, positive: the record comes before, is, or comes after what is wanted.
  using Order = std::function<int(const std::byte* record)>;
  void WalkWanted(const Tree2& tree, const Order& order, const Use& use);
  bool WalkNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level,
      const Order& order, const Use& use);
  void ReadNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level);

  FileBytes& Source;
  std::array<std::vector<std::byte>, Tree2::MostLevels + 1> Nodes;  ///< the one at hand of each level
  std::uint64_t NodesLeft = 0;  ///< that a walk may still read: as many as fit into the file
};

/// The header of such a heap: section III.G of the specification.
struct FractalHeap
{
  unsigned IdBytes = 0;      ///< of what names an object
  unsigned OffsetBytes = 0;  ///< of an object's place in the heap
  unsigned LengthBytes = 0;
  bool HasChecksums = false;     ///< in blocks with objects
  std::uint64_t Width = 0;       ///< blocks in a row of the table
  std::uint64_t FirstBytes = 0;  ///< of blocks in the first two rows; each later row has twice as large ones
  std::uint64_t MostBytes = 0;   ///< of blocks with objects; larger ones are tables themselves
  std::uint64_t MostObjectBytes = 0;
  std::uint64_t Root = NoAddress;
  unsigned RootRows = 0;  ///< 0: the root is a block with objects
};

/// Reads objects of heaps. For one thread. All methods throw Corrupt, and Error when the storage fails.
class FractalHeapReader
{
public:
  explicit FractalHeapReader(FileBytes& bytes) : Source(bytes) {}
  /// Must be called for each new file.
  void Forget() { this->Checked.clear(); }

  FractalHeap Open(std::uint64_t address);
  /// Bytes of an object by its name in the heap: `heap.IdBytes` bytes. Valid until the next call.
  const std::vector<std::byte>& Read(const FractalHeap& heap, const std::byte* id);

private:
  /// A block with objects.
  struct Block
  {
    std::uint64_t Address = 0, Bytes = 0;
    std::uint64_t Inside = 0;  ///< where the object is in it
  };
  Block Find(const FractalHeap& heap, std::uint64_t offset);
  void CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows);
  void CheckBlock(const FractalHeap& heap, const Block& block);

  FileBytes& Source;
  std::vector<std::byte> Object, Bytes;
  std::unordered_set<std::uint64_t> Checked;  ///< blocks and tables of this file
};

}  // namespace patchio::hdf5
