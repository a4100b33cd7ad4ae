// The structure of an HDF5 file, parsed without the HDF5 library, which takes at least ten times as long,
// allows one thread only, and crashes on damaged files. Supports the old style (superblocks 0 and 1, groups
// as symbol tables, object headers of version 1) and the new style (superblocks 2 and 3, object headers of
// version 2, links in headers or in fractal heaps), all layouts of data sets, all indices of chunks, and
// attributes in headers and in heaps. The format is described in The HDF Group's "HDF5 File Format
// Specification", versions 1.0 to 4.0.
//
// Nothing outside the file is read, checksums are compared, and the actual size of the file bounds time and
// memory.
#pragma once

#include "Hdf5/ChunkLists.h"
#include "Hdf5/Dataset.h"
#include "Hdf5/Groups.h"
#include "Hdf5/Virtual.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

class DatasetMessages;

/// An attribute of an object, with its values.
struct Attribute
{
  Datatype Type;
  std::uint64_t Values = 0;
  std::vector<std::byte> Bytes;  ///< all values as stored
};

/// Parses one file at a time. Not thread-safe; several threads may read the same file, each with its own
/// Structure. Objects are addressed by the addresses of their headers. All methods throw Corrupt and
/// Unsupported, and Error if the storage fails.
class Structure
{
public:
  Structure();
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  /// Switches to another file of `bytes` bytes. Throws Truncated in addition to the errors of all methods.
  void Open(ReadAt read, std::uint64_t bytes);
  /// Sets whether a wrong checksum is an error, see FileBytes::CompareChecksums().
  void CompareChecksums(bool compare) { this->Bytes.CompareChecksums(compare); }
  std::uint64_t SizeOfFile() const { return this->Bytes.EndAddress() + this->Bytes.BaseAddress(); }

  std::uint64_t Root() const { return this->RootHeader; }
  /// Returns the group with its header at this address, or nothing if the object is not a group.
  std::optional<Group> TryGroup(std::uint64_t header) { return this->Groups.Open(header); }
  /// Returns the group with its header at this address. Throws Corrupt if the object is not a group.
  Group OpenGroup(std::uint64_t header);
  /// Returns the address of the member with this name (without slashes). Follows soft links. Returns nothing
  /// if there is no such member. Throws Unsupported for links to other files.
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name)
  {
    int links = MostLinks;
    return this->Find(group, name, links);
  }
  /// Returns the address of the object at `path`, a list of names separated by slashes. Otherwise like
  /// Find().
  std::optional<std::uint64_t> FindPath(const Group& group, const std::string& path)
  {
    int links = MostLinks;
    return this->FindPath(group, path, links);
  }
  std::vector<std::string> Names(const Group& group) { return this->Groups.Names(group); }

  /// Describes a data set. The values of a contiguous data set lie inside the file.
  Dataset Describe(std::uint64_t header);
  /// Returns the type of a data set's elements.
  Datatype TypeOf(std::uint64_t header);
  /// Fills `chunks`, which has ChunksOf(dataset) entries. Each chunk that was written lies inside the file.
  void ListChunks(const Dataset& dataset, Chunk* chunks);

  /// Returns the mappings of a virtual data set.
  std::vector<VirtualMapping> Mappings(const Dataset& dataset);

  std::optional<Attribute> FindAttribute(std::uint64_t object, const std::string& name);
  /// Returns the text of an element of variable length, at most `most` characters, from its global heap.
  /// element: 16 stored bytes.
  std::string TextOf(const std::byte* element, std::size_t most);

  /// Reads stored bytes. `offset` counts from the beginning of the file.
  void ReadStored(std::uint64_t offset, std::byte* into, std::size_t bytes);

private:
  /// Greatest number of soft links that are followed to find one object.
  static constexpr int MostLinks = 16;

  void FindSuperblock();
  void ReadSuperblock1(std::uint64_t base);
  void ReadSuperblock2(std::uint64_t base);
  void ReadExtension(std::uint64_t header);
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name, int& links);
  std::optional<std::uint64_t> FindPath(const Group& group, const std::string& path, int& links);
  Datatype SharedType(Cursor& message);
  Message SharedTypeMessage(Cursor& message);
  std::vector<std::byte> GlobalObject(std::uint64_t heap, std::uint32_t number, std::size_t most);
  std::optional<Attribute> TakeAttribute(const std::byte* bytes, std::size_t count, const std::string& name);
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

/// Opens a file. `path`: name for messages. Throws Error if the file is damaged, truncated, of another
/// format, or not supported, or if the storage fails.
void OpenNamed(Structure& structure, const std::string& path, ReadAt read, std::uint64_t bytes);

/// Throws Error ("truncated: 3000 of 42064 bytes") if the file is shorter than its superblock states, and if
/// the storage fails. Does nothing for files that are not HDF5 and for superblocks that state no size. A user
/// block before the superblock counts as part of the file.
void CheckComplete(const std::string& path);

}  // namespace patchio::hdf5
