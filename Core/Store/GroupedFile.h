// The layout of index files, written and read by all ranks at once.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// The fault of ranks that have none of their own; another rank's says the cause.
constexpr const char* FaultElsewhere = "Opening a file failed on some ranks.";

// Collective: each rank sets its view of the file, and all read or write at once. They give what went wrong
// on this rank, empty when nothing did. A file that one rank cannot open is a fault on all of them.

/// Writes this rank's bytes at `begin`. The file must exist.
std::string WriteCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, const std::byte* data);

/// Reads the `bytes` from `begin` into memory that all ranks see; each rank reads its slice to its part of
/// it.
std::string ReadCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, std::byte* into);

/// What is wrong with a grouped file.
enum class FileFault
{
  Absent,      ///< not there
  Unreadable,  ///< there, but rights, the storage or too little memory keep us from reading it
  Foreign,     ///< of another version of PatchIO or another kind of machine
  Stale,       ///< sound, but what it describes has changed since
  Unfinished,  ///< its success flag is not set
  Corrupted
};

/// True when the user should be told: the file would be used but for the fault. Absent files, those of
/// another version and stale ones are usual.
constexpr bool IsNews(FileFault fault)
{
  return fault == FileFault::Unreadable || fault == FileFault::Unfinished || fault == FileFault::Corrupted;
}

class GroupedFileError : public Error
{
public:
  GroupedFileError(FileFault kind, const std::string& message) : Error(message), Kind(kind) {}
  FileFault Kind;
};

/// Where a part lies.
struct PartEntry
{
  std::uint64_t Length = 0;
  std::uint64_t Offset = 0;
  std::uint64_t Checksum = 0;
};

/// Opens a file for GroupedHead::Read(). It is opened once, so that all parts come from the same file even
/// when another one replaces it meanwhile. Throws GroupedFileError, FileFault::Absent or Unreadable.
std::unique_ptr<PlainFile> OpenGrouped(const std::string& path);

/// Header and table.
class GroupedHead
{
public:
  static constexpr std::uint64_t HeadParts = 2;
  static constexpr std::uint64_t Alignment = 64;

  /// Places the parts one after another.
  explicit GroupedHead(std::vector<PartEntry> parts);
  GroupedHead() = default;

  /// Reads and checks; throws GroupedFileError.
  static GroupedHead Read(const PlainFile& file);
  static GroupedHead Read(const std::string& path) { return Read(*OpenGrouped(path)); }

  const std::vector<PartEntry>& Parts() const { return this->Entries; }
  std::size_t ShardCount() const { return this->Entries.size() - HeadParts; }
  const PartEntry& ShardEntry(std::size_t shard) const { return this->Entries[HeadParts + shard]; }
  /// The shards with the gaps between them: one run of bytes.
  std::uint64_t ShardBegin() const;
  std::uint64_t ShardBytes() const { return this->Bytes - this->ShardBegin(); }
  std::uint64_t FileBytes() const { return this->Bytes; }

  /// One of the master's parts, checked. Throws GroupedFileError.
  std::vector<std::byte> ReadPart(const PlainFile& file, std::size_t part) const;

  /// Header and table as bytes, the success flag set or not.
  std::vector<std::byte> Encode(bool complete) const;

private:
  std::vector<PartEntry> Entries;
  std::uint64_t Bytes = 0;
};

/// Collective: the five steps of the paper. `path` must not exist; it is complete only when this returns.
///   1. the master makes the file and writes the header, its flag unset, the table and its own parts;
///   2. each rank finds its slice in the table;
///   3. and sets the file's view to it;
///   4. all write collectively;
///   5. the master sets the flag.
/// `head` is the same on all ranks and has one shard a rank; `masterParts` is used on rank 0 only; `shard` is
/// this rank's. Throws Error, the same on all ranks.
void WriteGrouped(Communicator& comm, const std::string& path, const GroupedHead& head,
    const std::vector<std::vector<std::byte>>& masterParts, const std::byte* shard);

}  // namespace patchio
