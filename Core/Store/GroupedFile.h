// The layout of index files, which all ranks write and read together.
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

/// The fault of ranks on which opening succeeded. The fault of another rank states the cause.
constexpr const char* FaultElsewhere = "Opening a file failed on some ranks.";

// Collective: every rank of the communicator calls each of these functions. Each rank sets its view of the
// file, then all ranks read or write at once. The functions return this rank's fault, or an empty text. If
// one rank cannot open the file, all ranks have a fault.

/// Writes this rank's `bytes` bytes of `data` at byte `begin` of the file. The file must exist.
std::string WriteCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, const std::byte* data);

/// Reads `bytes` bytes from byte `begin` of the file into memory that all ranks share. Each rank reads one
/// slice, into the slice's position in `into`.
std::string ReadCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, std::byte* into);

/// Reasons why an index file cannot be used.
enum class FileFault
{
  Absent,      ///< there is no such file
  Unreadable,  ///< access rights, the storage or too little memory prevent reading
  Foreign,     ///< made by another version of PatchIO or another kind of machine
  Stale,       ///< sound, but the described files have changed since the file was written
  Unfinished,  ///< the success flag of the file is not set
  Corrupted
};

/// Returns whether the user should get a warning about the fault. Absent and stale files and files of another
/// version are usual, so they cause no warning.
constexpr bool NeedsWarning(FileFault fault)
{
  return fault == FileFault::Unreadable || fault == FileFault::Unfinished || fault == FileFault::Corrupted;
}

class IndexFileError : public Error
{
public:
  IndexFileError(FileFault kind, const std::string& message) : Error(message), Kind(kind) {}
  FileFault Kind;
};

/// The size and offset of one part in the file, in bytes, and the checksum of the part.
struct PartEntry
{
  std::uint64_t Length = 0;
  std::uint64_t Offset = 0;
  std::uint64_t Checksum = 0;
};

/// Opens a file for IndexFileHead::Read(). Reading all parts from one open file keeps them consistent when
/// the file is replaced meanwhile. Throws IndexFileError with FileFault::Absent or FileFault::Unreadable.
std::unique_ptr<PlainFile> OpenIndexFile(const std::string& path);

/// The header of an index file and the table of its parts: the parts of rank 0 first, then the shards.
class IndexFileHead
{
public:
  static constexpr std::uint64_t HeadParts = 2;
  static constexpr std::uint64_t Alignment = 64;

  /// Computes the offsets of the parts, one after another, from their lengths.
  explicit IndexFileHead(std::vector<PartEntry> parts);
  IndexFileHead() = default;

  /// Reads and checks the header and the table. Throws IndexFileError.
  static IndexFileHead Read(const PlainFile& file);
  static IndexFileHead Read(const std::string& path) { return Read(*OpenIndexFile(path)); }

  const std::vector<PartEntry>& Parts() const { return this->Entries; }
  std::size_t ShardCount() const { return this->Entries.size() - HeadParts; }
  const PartEntry& ShardEntry(std::size_t shard) const { return this->Entries[HeadParts + shard]; }
  /// Returns the offset of the first shard. The shards and the gaps between them are one range of
  /// ShardBytes() bytes.
  std::uint64_t ShardBegin() const;
  std::uint64_t ShardBytes() const { return this->Bytes - this->ShardBegin(); }
  std::uint64_t FileBytes() const { return this->Bytes; }

  /// Reads one of the parts of rank 0 and compares its checksum. Throws IndexFileError.
  std::vector<std::byte> ReadPart(const PlainFile& file, std::size_t part) const;

  /// Returns header and table as bytes, with the success flag set if `complete`.
  std::vector<std::byte> Encode(bool complete) const;

private:
  std::vector<PartEntry> Entries;
  std::uint64_t Bytes = 0;
};

/// Writes an index file. Collective: every rank of the communicator calls it. `path` must not exist; the file
/// is complete only when this function returns. The five steps are those of L. Cao et al., "Dual channel
/// parallel I/O: A fast data access for scientific computing", 2015:
///   1. rank 0 creates the file and writes the header with an unset flag, the table, and its own parts;
///   2. each rank finds its slice in the table;
///   3. each rank sets its view of the file to that slice;
///   4. all ranks write collectively;
///   5. rank 0 sets the flag.
/// `head`: the same on all ranks, with one shard per rank or none. `partsOfRank0`: used on rank 0 only.
/// `shard`: the shard of this rank. Throws Error, the same on all ranks.
void WriteIndexFile(Communicator& comm, const std::string& path, const IndexFileHead& head,
    const std::vector<std::vector<std::byte>>& partsOfRank0, const std::byte* shard);

}  // namespace patchio
