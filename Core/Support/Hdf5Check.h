// Looks at what describes an object of an HDF5 file before the HDF5 library may: where that is damaged or
// forged, the library (1.10.8 at least) reads beyond its memory, goes round in circles, or takes any amount
// of memory.
//
// Known are files of the old style, which the library writes unless told otherwise: superblock version 0 or
// 1, object headers of version 1, groups as symbol tables or with links in their headers, all layouts but
// virtual ones. The library tries a file of the new style, or with filters that only the library undoes, in
// a child process first (Hdf5Trial.h). The environment variable PATCHIO_HDF5 may say otherwise:
//   strict   refuse such files
//   trust    look at nothing, as the library alone would
// The format is described in The HDF Group's "HDF5 File Format Specification", versions 1.0 to 3.0.
#pragma once

#include "Support/Hdf5Messages.h"
#include "Support/PlainFile.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace patchio::hdf5 {

/// Looks at one file, which must not change meanwhile. All methods throw Unsound, and Error when the storage
/// fails.
class StructureCheck
{
public:
  /// Looks at the superblock and the root group.
  explicit StructureCheck(const std::string& path);

  /// The object whose header lies there, and where it is a group, what the library needs to find its members.
  /// Each once.
  void Object(std::uint64_t address);
  /// The list of chunks of a data set, where it has one.
  void Chunks(std::uint64_t address);
  /// True once something was met that is not known, so that the library had to try the file.
  bool HasUnknown() const { return this->Unknown; }

private:
  /// What a header says, as far as its parts must fit each other.
  struct Header
  {
    bool HasSpace = false, HasType = false;
    DataSpace Space;
    DataType Type;
    DataLayout Values;
    std::uint64_t FillBytes = 0;
    bool HasOddFill = false;                           ///< two of them, of different sizes
    std::uint64_t Tree = NoAddress, Heap = NoAddress;  ///< of a group
  };
  void FindSuperblock();
  void TakeSuperblock();
  Header& Known(std::uint64_t address);
  void ReadHeader(std::uint64_t address, Header& header);
  /// Where the header goes on.
  using Blocks = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  void TakeBlock(const std::vector<std::byte>& block, Header& header, Blocks& blocks);
  void TakeMessage(unsigned type, bool shared, Cursor& message, Header& header);
  void TakeMessageOfGroup(unsigned type, Cursor& message, Header& header);
  DataType TakeAnyType(Cursor& message, bool shared);
  void TakeAttribute(Cursor& message);
  void TakeLists(Cursor& values, std::uint64_t count, std::uint64_t partBytes);
  void TakeExternalFiles(Cursor& message);
  void TakeCheckedFilters(Cursor& message);
  void CheckParts(const Header& header) const;
  /// Where the last text ends in a local heap; its texts are before.
  std::uint64_t LocalHeap(std::uint64_t address);
  void FreeList(std::uint64_t data, std::uint64_t bytes, std::uint64_t first);
  std::uint64_t EndOfNames(std::uint64_t data, std::uint64_t bytes);
  void Group(std::uint64_t tree, std::uint64_t heap);
  void GroupNode(std::uint64_t address, int above, std::uint64_t namesEnd);
  void Symbols(std::uint64_t address, std::uint64_t namesEnd);
  void ChunkNode(std::uint64_t address, int above, const DataLayout& layout);
  using Objects = std::unordered_map<std::uint32_t, std::uint64_t>;  ///< bytes of each, by number
  const Objects& GlobalHeap(std::uint64_t address);

  void MeetUnknown(const char* what);
  std::vector<std::byte> Bytes(std::uint64_t address, std::uint64_t count);
  void RequireInside(std::uint64_t address, std::uint64_t count) const;
  /// A node of a tree: what follows its head, for the children that it has.
  struct Node
  {
    int Level = 0;
    unsigned Children = 0;
    std::vector<std::byte> Entries;
  };
  Node TreeNode(std::uint64_t address, unsigned type, std::size_t keyBytes, unsigned k, int above);

  const PlainFile File;
  std::uint64_t FileBytes = 0;
  std::uint64_t Base = 0;  ///< where the superblock lies: addresses count from there
  bool Enabled = true, Strict = false, Unknown = false;
  unsigned SymbolsK = 0, GroupK = 0, ChunkK = 32;
  std::unordered_map<std::uint64_t, Header> Headers;       ///< by address
  std::unordered_set<std::uint64_t> Nodes;                 ///< of trees, and symbols, of this walk
  std::unordered_map<std::uint64_t, Objects> GlobalHeaps;  ///< by address
  std::unordered_set<std::uint64_t> ChunkTrees;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::byte[]>> Windows;
};

}  // namespace patchio::hdf5
