// B-trees of version 1: of groups as symbol tables, and of chunks.
#pragma once

#include "Hdf5Index/Metadata.h"

#include <cstddef>
#include <cstdint>

namespace patchio::hdf5index {

/// Head of a node.
struct Tree1Node
{
  static constexpr std::size_t HeadBytes = 24;  ///< before the first key

  int Level = 0;
  unsigned Children = 0;
};

/// type: 0: of groups, 1: of chunks. above: the level of the node that led here, -1 for the root. k: a node
/// has up to twice as many children. Throws Unfamiliar.
Tree1Node ReadTree1Node(Metadata& bytes, std::uint64_t address, unsigned type, int above, unsigned k);

}  // namespace patchio::hdf5index
