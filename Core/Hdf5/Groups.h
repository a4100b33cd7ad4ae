// Groups of both styles, and their links: sections III.A to III.D, III.G and IV.A.2.c, g and r of the
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

/// The locations of the links of a group.
struct Group
{
  enum class Style : std::uint8_t
  {
    Symbols,  ///< in a symbol table: the old style
    Compact,  ///< in the object header
    Dense     ///< in a fractal heap, indexed by a tree of hashes
  };

  Style Members = Style::Symbols;
  // For Symbols:
  std::uint64_t Tree = 0;   ///< address of the B-tree of the symbol table
  std::uint64_t Names = 0;  ///< address of the local heap's data
  std::uint64_t NameBytes = 0;
  // For Compact:
  std::uint64_t Header = 0;
  // For Dense:
  FractalHeap Links;
  Tree2 Hashes;
};

/// A link from a group to an object.
struct Link
{
  enum class Style : std::uint8_t
  {
    Hard,
    Soft,
    Elsewhere  ///< in another file, or user-defined
  };

  Style Kind = Style::Hard;
  std::uint64_t Address = NoAddress;  ///< Hard: address of the object's header
  std::string Target;                 ///< Soft: path
};

/// Sizes of the nodes of version 1 trees, from the superblock. A node has up to twice as many entries.
struct NodeSizes
{
  unsigned Symbols = 4;  ///< entries of symbol table nodes
  unsigned Group = 16;   ///< children of nodes of groups' B-trees
  unsigned Chunks = 32;  ///< children of nodes of chunks' B-trees
};

/// Reads groups. Not thread-safe. All methods throw Corrupt and Unsupported, and Error if the storage fails.
class GroupReader
{
public:
  explicit GroupReader(FileBytes& bytes) : Bytes(bytes), Header(bytes), Heaps(bytes), Trees(bytes) {}
  /// Switches to a new file, whose nodes have these sizes. Call it for each new file.
  void SetNodeSizes(const NodeSizes& sizes);

  /// Returns the group with its header at this address, or nothing if the object is not a group.
  std::optional<Group> Open(std::uint64_t header);
  /// Returns the link with this name (without slashes), or nothing if the group has none.
  std::optional<Link> Find(const Group& group, const std::string& name);
  /// Returns the names of all links, sorted bytewise.
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
  std::vector<std::byte> Node;     ///< current node of a B-tree or symbol table
  std::vector<std::byte> Name;     ///< current name
  std::uint64_t MayStillList = 0;  ///< bytes of names and nodes that Names() may list
};

}  // namespace patchio::hdf5
