// B-trees of version 2: records in the order of their keys, without anything between them and the leaves.
#pragma once

#include "Hdf5Index/Metadata.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace patchio::hdf5index {

/// The header of such a tree: section III.A.2 of the specification.
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

/// Reads the nodes of trees. For one thread. All methods throw Unfamiliar, and Error when the storage fails.
class Tree2Reader
{
public:
  explicit Tree2Reader(Metadata& bytes) : Source(bytes) {}

  /// Throws Unfamiliar unless a tree of that type is there.
  Tree2 Open(std::uint64_t address, unsigned type);

  /// Negative, 0, positive: the record comes before, is, or comes after what is wanted.
  using Order = std::function<int(const std::byte* record)>;
  /// Returns true to end the walk.
  using Use = std::function<bool(const std::byte* record)>;
  /// Calls `use` with the wanted records in their order until it returns true; returns whether it did.
  bool Walk(const Tree2& tree, const Order& order, const Use& use);

private:
  bool WalkNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level,
      const Order& order, const Use& use);
  void ReadNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level);

  Metadata& Source;
  std::array<std::vector<std::byte>, Tree2::MostLevels + 1> Nodes;  ///< the one at hand of each level
  std::uint64_t NodesLeft = 0;  ///< that a walk may still read: as many as fit into the file
};

}  // namespace patchio::hdf5index
