// Groups of the old and of the new style, and the links of groups; see the sections III.A to III.D, III.G and
// IV.A.2.c, g and r of the specification.
#pragma once

#include "Hdf5/ObjectHeader.h"
#include "Hdf5/Trees.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::hdf5 {

/// A group: the place in the file where the links of the group are stored.
struct Group
{
  /// The ways in which HDF5 stores links.
  enum class LinkStorage : std::uint8_t
  {
    SymbolTable,  ///< in a symbol table: the old style
    Compact,      ///< in the object header
    Dense         ///< in a fractal heap, with an index: a B-tree with the hashes of the links' names
  };

  std::uint64_t Header = 0;  ///< address of the object header
  LinkStorage Storage = LinkStorage::SymbolTable;
  // For SymbolTable:
  std::uint64_t Tree = 0;       ///< address of the B-tree of the symbol table
  std::uint64_t Names = 0;      ///< address of the names, in a local heap
  std::uint64_t NameBytes = 0;  ///< size of all names in bytes
  // For Dense:
  FractalHeap Links;
  Tree2 Hashes;
};

/// A link from a group to an object.
struct Link
{
  enum class LinkType : std::uint8_t
  {
    Hard,
    Soft,
    External  ///< to an object in another file, or user-defined
  };

  LinkType Type = LinkType::Hard;
  std::uint64_t Address = NoAddress;  ///< Hard: address of the object's header
  std::string Target;                 ///< Soft: path of the object
};

/// Half the greatest number of entries in the nodes of version 1 trees, as the superblock states.
struct NodeSizes
{
  unsigned Symbols = 4;  ///< entries of symbol table nodes
  unsigned Group = 16;   ///< children of nodes of groups' B-trees
  unsigned Chunks = 32;  ///< children of nodes of chunks' B-trees
};

/// Reads groups and links. Not thread-safe. All methods throw Corrupt for damaged files, Unsupported for
/// features that PatchIO does not support, and Error if the storage fails.
class GroupReader
{
public:
  explicit GroupReader(FileBytes& bytes) : Bytes(bytes), Header(bytes), Heaps(bytes), Trees(bytes) {}
  /// Sets the sizes of nodes, and discards what was read before. Call SetNodeSizes() when FileBytes switches
  /// to another file.
  void SetNodeSizes(const NodeSizes& sizes);

  /// Returns the group whose header is at the address `header`, or nothing if the object is not a group.
  std::optional<Group> Open(std::uint64_t header);
  /// Returns the link `name` (without slashes) of `group`, or nothing if the group has no such link.
  std::optional<Link> Find(const Group& group, const std::string& name);
  /// Returns the names of all links of `group`, sorted bytewise.
  std::vector<std::string> Names(const Group& group);

private:
  Group OpenSymbols(std::uint64_t header, const Message& message);
  Group OpenNewGroup(std::uint64_t header, const Message& message);
  std::optional<Link> FindSymbol(const Group& group, const std::string& name);
  std::optional<std::uint64_t> FindSymbolNode(const Group& group, const std::string& name);
  std::optional<Link> FindCompact(const Group& group, const std::string& name);
  std::optional<Link> FindDense(const Group& group, const std::string& name);
  int Compare(const Group& group, std::uint64_t nameOffset, const std::string& text);
  unsigned ReadSymbols(std::uint64_t node);
  Link ParseSymbol(const Group& group, const std::byte* symbol);
  std::string ReadName(const Group& group, std::uint64_t offset);
  void ListSymbols(
      const Group& group, std::uint64_t address, int parentLevel, std::vector<std::string>& names);
  void AppendName(std::string_view name, std::vector<std::string>& names);

  FileBytes& Bytes;
  ObjectHeader Header;
  FractalHeapReader Heaps;
  Tree2Reader Trees;
  NodeSizes Sizes;
  std::vector<std::byte> Node;   ///< bytes of the current node of a B-tree or symbol table
  std::vector<std::byte> Name;   ///< bytes of the current name
  std::uint64_t ListBudget = 0;  ///< bytes of names and nodes that Names() may still list
};

}  // namespace patchio::hdf5
