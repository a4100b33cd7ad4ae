// Groups of either style and the links in them: sections III.A to III.D, III.G and IV.A.2.c, g and r of the
// specification.
#pragma once

#include "Hdf5/ObjectHeader.h"
#include "Hdf5/Trees.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::hdf5 {

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

struct Link
{
  enum class Style : std::uint8_t
  {
    Hard,
    Soft,
    Elsewhere  ///< in another file, or as a program of others defines
  };

  Style Kind = Style::Hard;
  std::uint64_t Address = NoAddress;  ///< Hard: of the object's header
  std::string Target;                 ///< Soft: a path
};

/// Sizes of the nodes of trees of version 1, as the superblock has them.
struct NodeSizes
{
  unsigned Symbols = 4;  ///< nodes of symbol tables have up to twice as many entries,
  unsigned Group = 16;   ///< nodes of groups' B-trees up to twice as many children,
  unsigned Chunks = 32;  ///< and nodes of chunks' B-trees
};

/// For one thread. All methods throw Corrupt, Unsupported, and Error when the storage fails.
class GroupReader
{
public:
  explicit GroupReader(FileBytes& bytes) : Bytes(bytes), Header(bytes), Heaps(bytes), Trees(bytes) {}
  /// Must be called for each new file.
  void TurnTo(const NodeSizes& sizes);

  /// Returns the group whose header lies there; none where another object does.
  std::optional<Group> Open(std::uint64_t header);
  /// Returns the link of that name, which has no slash; none when the group does not have it.
  std::optional<Link> Find(const Group& group, const std::string& name);
  /// Returns the names of all links, in the order of their bytes.
  std::vector<std::string> Names(const Group& group);

private:
  Group OpenSymbols(const Message& message);
  Group OpenNewGroup(std::uint64_t header, const Message& message);
  std::optional<Link> FindSymbol(const Group& group, const std::string& name);
  std::optional<std::uint64_t> FindSymbolNode(const Group& group, const std::string& name);
  std::optional<Link> FindCompact(const Group& group, const std::string& name);
  std::optional<Link> FindDense(const Group& group, const std::string& name);
  int Compare(const Group& group, std::uint64_t name, const std::string& wanted);
  unsigned ReadSymbols(std::uint64_t node);
  Link LinkOf(const Group& group, const std::byte* symbol);
  std::string TextAt(const Group& group, std::uint64_t place);
  void ListSymbols(const Group& group, std::uint64_t address, int above, std::vector<std::string>& names);
  void Keep(std::string_view name, std::vector<std::string>& names);

  FileBytes& Bytes;
  ObjectHeader Header;
  FractalHeapReader Heaps;
  Tree2Reader Trees;
  NodeSizes Sizes;
  std::vector<std::byte> Node;     ///< the node of a B-tree or symbol table at hand
  std::vector<std::byte> Name;     ///< the name at hand
  std::uint64_t MayStillList = 0;  ///< bytes of names and of nodes, as many as the file has
};

}  // namespace patchio::hdf5
