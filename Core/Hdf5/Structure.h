// A parser of the structure of HDF5 files. The HDF5 library takes at least ten times as long, allows one
// thread only, and crashes on damaged files. The parser supports the old style (superblocks 0 and 1, groups
// as symbol tables, object headers of version 1) and the new style (superblocks 2 and 3, object headers of
// version 2, links in headers or in fractal heaps), all layouts of data sets, all indices of chunks, and
// attributes in headers and in heaps. The format is described in The HDF Group's "HDF5 File Format
// Specification", versions 1.0 to 4.0.
//
// The parser reads nothing outside the file and compares checksums. The actual size of the file bounds time
// and memory.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/FileBytes.h"
#include "Hdf5/Groups.h"
#include "Hdf5/Trees.h"
#include "Hdf5/Virtual.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

class ChunkGrid;

/// Reads the lists of the chunks of data sets. Not thread-safe. All methods throw Corrupt for damaged files,
/// and Error if the storage fails.
class ChunkLists
{
public:
  explicit ChunkLists(FileBytes& bytes) : Source(bytes), Trees(bytes) {}

  /// Fills `chunks`, an array of CountChunks(dataset) entries, with the chunks of `dataset`. Each chunk that
  /// was written lies inside the file. `treeK`: half the greatest number of children of a node of a version 1
  /// tree.
  void List(const Dataset& dataset, unsigned treeK, Chunk* chunks);

private:
  void ListTree1(
      const Dataset& dataset, unsigned treeK, std::uint64_t address, int parentLevel, const ChunkGrid& grid);
  void ListTree2(const Dataset& dataset, const ChunkGrid& grid);
  static void ListSingle(const Dataset& dataset, const ChunkGrid& grid);
  void ListImplicit(const Dataset& dataset, const ChunkGrid& grid);
  template <typename Array>
  static void ListArray(const Dataset& dataset, Array array, const ChunkGrid& grid);

  FileBytes& Source;
  Tree2Reader Trees;
};

/// The type and the values of an attribute.
struct Attribute
{
  Datatype Type;
  std::uint64_t Values = 0;      ///< number of values
  std::vector<std::byte> Bytes;  ///< all values as stored
};

/// Parses one HDF5 file at a time. The parameters `header` and `object` are addresses of object headers. All
/// methods throw Corrupt for damaged files, Unsupported for features that PatchIO does not support, and Error
/// if the storage fails. Not thread-safe; several threads may read the same file, each with its own
/// Structure.
class Structure
{
public:
  Structure();
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  /// Switches to another file, which has `bytes` bytes and is read by `read`. Throws NoSuperblock if the file
  /// is not HDF5, and Truncated if the file is too short.
  void Open(ReadAt read, std::uint64_t bytes);
  /// Sets whether a wrong checksum is an error, see FileBytes::SetComparesChecksums().
  void SetComparesChecksums(bool compares) { this->Bytes.SetComparesChecksums(compares); }
  /// Returns the size of the file in bytes.
  std::uint64_t SizeOfFile() const { return this->Bytes.EndAddress() + this->Bytes.BaseAddress(); }

  /// Returns the address of the header of the root group.
  std::uint64_t Root() const { return this->RootHeader; }
  /// Returns the group at `header`, or nothing if the object is not a group.
  std::optional<Group> TryGroup(std::uint64_t header) { return this->Groups.Open(header); }
  /// Returns the group at `header`. Throws Corrupt if the object is not a group.
  Group OpenGroup(std::uint64_t header);
  /// Returns the address of the header of the member `name` (without slashes) of `group`, or nothing if there
  /// is no such member or a soft link leads nowhere. Follows soft links. Throws Unsupported for links to
  /// other files.
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name)
  {
    int links = MostLinks;
    return this->Find(group, name, links);
  }
  /// Returns the address of the header of the object at `path`: names from `group` on, separated by slashes.
  /// If `path` contains no name, returns the address of the header of `group`. Otherwise like Find().
  std::optional<std::uint64_t> FindPath(const Group& group, const std::string& path)
  {
    int links = MostLinks;
    return this->FindPath(group, path, links);
  }
  /// Returns the names of all members of `group`, sorted bytewise.
  std::vector<std::string> Names(const Group& group) { return this->Groups.Names(group); }

  /// Returns the description of the data set at `header`. May call LibraryHasFilter(). The values of a
  /// contiguous data set lie inside the file.
  Dataset Describe(std::uint64_t header);
  /// Returns the type of the elements of the data set at `header`.
  Datatype DatatypeOf(std::uint64_t header);
  /// Fills `chunks`, an array of CountChunks(dataset) entries, with the chunks of `dataset`. Each chunk that
  /// was written lies inside the file.
  void ListChunks(const Dataset& dataset, Chunk* chunks);

  /// Returns the mappings of a virtual data set.
  std::vector<VirtualMapping> Mappings(const Dataset& dataset);

  /// Returns an attribute of an object, or nothing if the object has no attribute `name`.
  std::optional<Attribute> FindAttribute(std::uint64_t object, const std::string& name);
  /// Reads the text of an element of variable length from a global heap. `element`: the 16 bytes of the
  /// element; `most`: greatest number of characters to read.
  std::string TextOf(const std::byte* element, std::size_t most);

  /// Reads `bytes` bytes, from `offset` on, to `into`. `offset` counts from the beginning of the file, not
  /// from the base address.
  void ReadStored(std::uint64_t offset, std::byte* into, std::size_t bytes);

private:
  /// Greatest number of soft links that Find() and FindPath() follow to find an object.
  static constexpr int MostLinks = 16;

  void FindSuperblock();
  void ReadSuperblock1(std::uint64_t base);
  void ReadSuperblock2(std::uint64_t base);
  void ReadExtension(std::uint64_t header);
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name, int& links);
  std::optional<std::uint64_t> FindPath(const Group& group, const std::string& path, int& links);
  Datatype SharedType(Cursor& message);
  Message SharedTypeMessage(Cursor& message);
  std::vector<std::byte> ReadGlobalObject(std::uint64_t heap, std::uint32_t number, std::size_t most);
  std::optional<Attribute> ParseAttribute(const std::byte* bytes, std::size_t count, const std::string& name);
  std::optional<Attribute> FindDenseAttribute(const Message& info, const std::string& name);

  FileBytes Bytes;
  NodeSizes Sizes;
  GroupReader Groups;
  ObjectHeader Header, SharedHeader;
  FractalHeapReader Heaps;
  Tree2Reader Trees;
  ChunkLists Lists;
  std::uint64_t RootHeader = 0;
};

/// Calls structure.Open(read, bytes), and replaces errors by errors for the user. `path`: name of the file in
/// messages. Throws Error if the file is damaged, truncated, unfinished, of another format, or not supported,
/// or if the storage fails.
void OpenStructure(Structure& structure, const std::string& path, ReadAt read, std::uint64_t bytes);

/// Checks that the file at `path` is at least as long as its superblock states; a user block counts as part
/// of the file. Accepts files that are not HDF5, not supported or damaged otherwise. Throws Error if the file
/// is too short or cannot be read.
void CheckComplete(const std::string& path);

}  // namespace patchio::hdf5
