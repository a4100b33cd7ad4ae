// The structure of an HDF5 file, read without the HDF5 library, which takes ten and more times as long, only
// one thread, and crashes on damaged files. Files of the old style are known (superblock 0 and 1, groups as
// symbol tables, object headers of version 1) and of the new style (superblock 2 and 3, object headers of
// version 2, links in headers or in fractal heaps), all layouts of data sets, all lists of chunks, and
// attributes in headers and in heaps. The format is described in The HDF Group's "HDF5 File Format
// Specification", versions 1.0 to 4.0.
//
// Nothing is read outside the file, checksums are compared, and time and memory are bounded by what is really
// in the file.
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

struct Attribute
{
  Datatype Type;
  std::uint64_t Values = 0;
  std::vector<std::byte> Bytes;  ///< all values as they are stored
};

/// One file at a time. For one thread; several may read one file each with a reader of its own. Objects are
/// addressed by where their headers lie. All methods throw Corrupt, Unsupported, and Error when the storage
/// fails.
class Structure
{
public:
  Structure();
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  /// Turns to another file. bytes: its size. Throws Truncated as well.
  void Open(ReadAt read, std::uint64_t bytes);
  /// See FileBytes::CompareChecksums().
  void CompareChecksums(bool compare) { this->Bytes.CompareChecksums(compare); }
  std::uint64_t SizeOfFile() const { return this->Bytes.EndAddress() + this->Bytes.BaseAddress(); }

  std::uint64_t Root() const { return this->RootHeader; }
  /// Returns the group whose header lies there; none where another object does.
  std::optional<Group> TryGroup(std::uint64_t header) { return this->Groups.Open(header); }
  /// The same for an object that must be a group.
  Group OpenGroup(std::uint64_t header);
  /// Returns the member of that name, which has no slash, or what a soft link of that name leads to; none
  /// when the group does not have it. Throws Unsupported for links to other files.
  std::optional<std::uint64_t> Find(const Group& group, const std::string& name)
  {
    int links = MostLinks;
    return this->Find(group, name, links);
  }
  /// The same for names with a slash between them.
  std::optional<std::uint64_t> FindPath(const Group& group, const std::string& path)
  {
    int links = MostLinks;
    return this->FindPath(group, path, links);
  }
  std::vector<std::string> Names(const Group& group) { return this->Groups.Names(group); }

  /// Describes a data set. The values of a contiguous one lie inside the file.
  Dataset Describe(std::uint64_t header);
  /// The type of a data set's elements.
  Datatype TypeOf(std::uint64_t header);
  /// Fills ChunksOf(dataset) chunks; each lies inside the file.
  void ListChunks(const Dataset& dataset, Chunk* chunks);

  /// The mappings of a virtual data set.
  std::vector<VirtualMapping> Mappings(const Dataset& dataset);

  std::optional<Attribute> FindAttribute(std::uint64_t object, const std::string& name);
  /// The text that an element of a list of characters has in its global heap. element: its 16 bytes. Not
  /// longer than `most`.
  std::string TextOf(const std::byte* element, std::size_t most);

  /// Reads stored bytes. `offset` counts from the beginning of the file.
  void ReadStored(std::uint64_t offset, std::byte* into, std::size_t bytes);

private:
  /// Soft links that may be followed to find one object.
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

/// Opens a file of that name. Throws Error where it is damaged, truncated, of another format, or not
/// supported, and when the storage fails.
void OpenNamed(Structure& structure, const std::string& path, ReadAt read, std::uint64_t bytes);

/// Throws Error ("truncated: 3000 of 42064 bytes") where a file ends before its superblock says, and when the
/// storage fails. Does nothing for files that are not HDF5, and where the superblock does not say. A user
/// block before the superblock counts, as it is part of the file.
void CheckComplete(const std::string& path);

}  // namespace patchio::hdf5
