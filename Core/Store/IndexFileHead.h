// The layout of index files, and the collective reading and writing of these files.
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

/// The fault that ranks report if they can open a file, but another rank cannot. The fault of the other rank
/// states the cause.
constexpr const char* FaultOnOtherRank = "Opening a file failed on some ranks.";

/// Writes a range of the file at `path` on each rank, by collective MPI calls, and flushes the file. The file
/// must exist. `begin`: offset of this rank's range in bytes; `bytes`: size of the range; `data`: bytes of
/// the range. Returns the fault of this rank, or an empty text. If a rank cannot open the file, all ranks
/// have a fault. Collective: every rank of the communicator calls it.
std::string WriteCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, const std::byte* data);

/// Reads a range of the file at `path` into memory that all ranks share, by collective MPI calls: each rank
/// reads one slice of the range to the position of the slice in `into`. `begin`: offset of the range in
/// bytes; `bytes`: size of the range; both are the same on all ranks. Returns the fault of this rank like
/// WriteCollectively(). Collective: every rank of the communicator calls it.
std::string ReadCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, std::byte* into);

/// The reasons why an index file cannot be used.
enum class FileFault
{
  Absent,      ///< there is no regular file at the path, or the user may not search its folder
  Unreadable,  ///< missing permissions, a failure of the storage or too little memory prevent reading
  Foreign,     ///< from another version of PatchIO or type of machine, or of a step instead of a series
  Stale,       ///< the indexed files have changed, or are other files or of another format
  Unfinished,  ///< the success flag of the file is not set
  Corrupted    ///< the contents are damaged
};

/// Returns whether `fault` deserves a warning to the user. Absent, stale and foreign files are usual, so
/// these faults cause no warning.
constexpr bool NeedsWarning(FileFault fault)
{
  return fault == FileFault::Unreadable || fault == FileFault::Unfinished || fault == FileFault::Corrupted;
}

/// The error of an index file that cannot be used.
class IndexFileError : public Error
{
public:
  IndexFileError(FileFault fault, const std::string& message) : Error(message), Fault(fault) {}
  FileFault Fault;
};

/// An entry of the table of an index file: the size and offset of a part in bytes, and the checksum of the
/// part.
struct PartEntry
{
  std::uint64_t Length = 0;
  std::uint64_t Offset = 0;
  std::uint64_t Checksum = 0;
};

/// Opens the index file at `path` for IndexFileHead::Read(). Parts that are read from one open file are
/// consistent even if the file is replaced meanwhile. Throws IndexFileError with FileFault::Absent or
/// FileFault::Unreadable if the file cannot be opened.
std::unique_ptr<PlainFile> OpenIndexFile(const std::string& path);

/// The header and the table of an index file. The table lists the two parts of rank 0 first, then one shard
/// of each rank that built the index; the index file of a series has no shards.
class IndexFileHead
{
public:
  static constexpr std::uint64_t HeadParts = 2;   ///< number of parts of rank 0
  static constexpr std::uint64_t Alignment = 64;  ///< parts begin at multiples of this number of bytes

  /// Makes the table of `parts`, at least HeadParts entries with lengths and checksums. Computes the offsets
  /// of the parts, one after another.
  explicit IndexFileHead(std::vector<PartEntry> parts);
  IndexFileHead() = default;

  /// Reads and checks the header and the table. Throws IndexFileError if the file cannot be used.
  static IndexFileHead Read(const PlainFile& file);

  const std::vector<PartEntry>& Parts() const { return this->Entries; }
  std::size_t ShardCount() const { return this->Entries.size() - HeadParts; }
  const PartEntry& ShardEntry(std::size_t shard) const { return this->Entries[HeadParts + shard]; }
  /// Returns the offset of the first shard, or FileBytes() if there are no shards. All shards and the gaps
  /// between shards form one range of ShardBytes() bytes.
  std::uint64_t ShardBegin() const;
  std::uint64_t ShardBytes() const { return this->Bytes - this->ShardBegin(); }
  /// Returns the size of the file in bytes.
  std::uint64_t FileBytes() const { return this->Bytes; }

  /// Reads part `part` of rank 0, 0 or 1, and compares the checksum of the part. Throws IndexFileError if the
  /// part cannot be read or is damaged.
  std::vector<std::byte> ReadPart(const PlainFile& file, std::size_t part) const;

  /// Returns header and table as bytes. `complete`: value of the success flag.
  std::vector<std::byte> Encode(bool complete) const;

private:
  std::vector<PartEntry> Entries;
  std::uint64_t Bytes = 0;
};

/// Writes an index file to `path`, which must not exist. The file is complete only when this function
/// returns; after an error, an incomplete file may remain. The five steps are the steps of L. Cao et al.,
/// "Dual channel parallel I/O: A fast data access for scientific computing", 2015:
///   1. rank 0 creates the file and writes the header with an unset flag, the table, and its own parts;
///   2. each rank finds its slice of the file in the table;
///   3. each rank sets its view of the file to its slice;
///   4. all ranks write collectively;
///   5. rank 0 sets the flag.
/// `head`: the same on all ranks, with one shard per rank or without shards; `partsOfRank0`: the parts of
/// rank 0, used on rank 0 only; `shard`: the shard of this rank, unused without shards. Throws Error, the
/// same on all ranks. Collective: every rank of the communicator calls it.
void WriteIndexFile(Communicator& ranks, const std::string& path, const IndexFileHead& head,
    const std::vector<std::vector<std::byte>>& partsOfRank0, const std::byte* shard);

}  // namespace patchio
