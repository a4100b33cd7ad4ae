#include "Hdf5Index/Tree1.h"

namespace patchio::hdf5index {

Tree1Node ReadTree1Node(Metadata& bytes, std::uint64_t address, unsigned type, int above, unsigned k)
{
  constexpr int largestLevel = 16;  // half-full nodes of 32 reach 2^64 entries
  std::byte head[Tree1Node::HeadBytes];
  bytes.Read(address, head, sizeof(head));
  const Tree1Node node{Load<std::uint8_t>(head + 5), Load<std::uint16_t>(head + 6)};
  // As levels go down one by one, a path through the tree is finite.
  const bool levelFits = above < 0 ? node.Level <= largestLevel : node.Level == above - 1;
  if (!Begins(head, "TREE") || Load<std::uint8_t>(head + 4) != type || !levelFits || node.Children > 2 * k) {
    throw Unfamiliar("a damaged B-tree");
  }
  return node;
}

}  // namespace patchio::hdf5index
