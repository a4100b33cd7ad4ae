#include "Store/IndexFileHead.h"

#include "Base/Bytes.h"
#include "Base/Memory.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

namespace patchio {

namespace {

/// Greatest number of bytes of one MPI call. MPI counts are int, so a long slice takes several rounds; all
/// ranks have the same number of rounds.
constexpr std::uint64_t RoundBytes = std::uint64_t(1) << 30;

/// Returns whether `condition` is true on all ranks. Collective: every rank of the communicator calls it.
bool AllOf(MPI_Comm comm, bool condition)
{
  int all = condition ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

/// A file that is open with MPI-IO either on all ranks or on no rank. The methods store a fault instead of
/// throwing an error, because every rank must make all collective calls.
class MpiFile
{
public:
  enum class Purpose
  {
    Read,
    Write
  };

  MpiFile(MPI_Comm comm, const std::string& path, Purpose purpose) : Comm(comm), Path(path)
  {
    // MPI_File_open and MPI_File_close may wait for all ranks, even for a rank that could not open the file
    // and has returned. Therefore each rank first tries to open the file without MPI, and no rank opens it
    // with MPI if one rank fails.
    const bool reads = purpose == Purpose::Read;
    this->SetFault(
        CatchError([&] { PlainFile(path, reads ? PlainFile::Purpose::Read : PlainFile::Purpose::Update); }));
    if (AllOf(comm, this->Fault.empty())) {
      this->Open(reads ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
    } else {
      this->SetFault(FaultOnOtherRank);
    }
  }
  ~MpiFile() { this->Close(); }
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;

  bool IsOpen() const { return this->File != MPI_FILE_NULL; }

  void SetView(std::uint64_t begin)
  {
    char native[] = "native";
    this->Check("MPI_File_set_view", MPI_File_set_view(this->File, static_cast<MPI_Offset>(begin), MPI_BYTE,
                                         MPI_BYTE, native, MPI_INFO_NULL));
  }

  void WriteAll(const std::byte* data, std::uint64_t bytes)
  {
    this->TransferInRounds(bytes, [&](std::uint64_t begin, int count, MPI_Status* status) {
      return MPI_File_write_all(this->File, data + begin, count, MPI_BYTE, status);
    });
    this->Check("MPI_File_sync", MPI_File_sync(this->File));
  }

  void ReadAll(std::byte* into, std::uint64_t bytes)
  {
    this->TransferInRounds(bytes, [&](std::uint64_t begin, int count, MPI_Status* status) {
      return MPI_File_read_all(this->File, into + begin, count, MPI_BYTE, status);
    });
  }

  /// Closes the file if it is open. Returns this rank's fault, or an empty text. Collective: every rank of
  /// the communicator calls it.
  std::string Close()
  {
    if (this->IsOpen()) {
      this->Check("MPI_File_close", MPI_File_close(&this->File));
      this->File = MPI_FILE_NULL;
    }
    return this->Fault;
  }

private:
  void Open(int mode)
  {
    const int code = MPI_File_open(this->Comm, this->Path.c_str(), mode, MPI_INFO_NULL, &this->File);
    this->Check("MPI_File_open", code);
    if (!AllOf(this->Comm, code == MPI_SUCCESS)) {
      // Ranks that have opened the file do not close the file, because closing would wait for the other
      // ranks.
      this->File = MPI_FILE_NULL;
      this->SetFault(FaultOnOtherRank);
    }
    if (this->IsOpen()) {
      // MPI_ERRORS_RETURN is the default, unless the program has changed the default.
      MPI_File_set_errhandler(this->File, MPI_ERRORS_RETURN);
    }
  }

  /// Calls transfer(begin, count, status) for consecutive ranges of `bytes` bytes, at most RoundBytes each;
  /// `count` is 0 if only other ranks have bytes left. Stores a fault if a range is incomplete. Collective:
  /// every rank of the communicator calls it.
  template <typename Transfer>
  void TransferInRounds(std::uint64_t bytes, Transfer transfer)
  {
    std::uint64_t rounds = (bytes + RoundBytes - 1) / RoundBytes;
    MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, this->Comm);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t begin = std::min(bytes, round * RoundBytes);
      const int count = static_cast<int>(std::min(bytes - begin, RoundBytes));
      MPI_Status status;
      int done = count;
      const int code = transfer(begin, count, &status);
      this->Check("collective transfer", code);
      if (code == MPI_SUCCESS) {
        MPI_Get_count(&status, MPI_BYTE, &done);
      }
      if (done != count) {
        this->SetFileFault(fmt::format("{} of {} bytes", done, count));
      }
    }
  }

  void Check(const char* function, int code)
  {
    if (code != MPI_SUCCESS) {
      this->SetFileFault(fmt::format("{}: {}", function, MpiErrorText(code)));
    }
  }
  void SetFileFault(const std::string& found)
  {
    this->SetFault(FileError(this->Path, "a file that the ranks can read or write together", found).what());
  }
  /// Stores the fault unless there is a fault already.
  void SetFault(const std::string& fault)
  {
    if (this->Fault.empty()) {
      this->Fault = fault;
    }
  }

  MPI_Comm Comm;
  std::string Path;
  MPI_File File = MPI_FILE_NULL;
  std::string Fault;
};

}  // namespace

std::string WriteCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, const std::byte* data)
{
  MpiFile file(comm, path, MpiFile::Purpose::Write);
  if (file.IsOpen()) {
    file.SetView(begin);
    file.WriteAll(data, bytes);
  }
  return file.Close();
}

std::string ReadCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, std::byte* into)
{
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  // The size of a slice is a multiple of the size of a page.
  const std::uint64_t slice = (bytes / size + 4096) / 4096 * 4096;
  const std::uint64_t first = std::min(bytes, rank * slice);
  const std::uint64_t count = std::min(bytes - first, slice);
  MpiFile file(comm, path, MpiFile::Purpose::Read);
  if (file.IsOpen()) {
    file.SetView(begin + first);
    file.ReadAll(into + first, count);
  }
  return file.Close();
}

namespace {

/// Version of the layout. Increase Version whenever the meaning of any byte changes, including the bytes of
/// Catalog::Serialize().
constexpr std::uint32_t Version = 10;
constexpr std::uint32_t ByteOrder = 0x01020304;
/// Greatest number of parts, larger than the number of ranks of any run. The limit bounds the memory of the
/// table, which is read before its checksum can be compared.
constexpr std::uint64_t MostParts = std::uint64_t(1) << 20;
constexpr char Magic[8] = {'P', 'a', 't', 'c', 'h', 'I', 'O', '\x1a'};

/// The header of an index file, as stored.
struct Header
{
  char Signature[8] = {};
  std::uint32_t Order = ByteOrder;
  std::uint32_t FormatVersion = Version;
  /// Sizes of the records whose bytes in memory are stored, so that files of a machine with another layout
  /// are recognized.
  std::uint32_t Layout =
      sizeof(Patch) << 24 | sizeof(Level) << 16 | sizeof(ByteRange) << 8 | sizeof(ChunkedArray);
  std::uint32_t Complete = 0;  ///< the success flag, which rank 0 sets last
  std::uint64_t PartCount = 0;
  std::uint64_t FileBytes = 0;
  /// Checksum of header and table, computed with zeros for this member and Complete.
  std::uint64_t HeadChecksum = 0;
  std::uint64_t Reserved[2] = {};
};
static_assert(sizeof(Header) == 64);

/// Returns the size of the header and a table of `parts` parts, in bytes.
std::uint64_t TableEnd(std::uint64_t parts)
{
  return sizeof(Header) + parts * sizeof(PartEntry);
}

[[noreturn]] void FailCorrupted(const std::string& path, const std::string& fault)
{
  throw IndexFileError(FileFault::Corrupted, fmt::format("{}: {}.", path, fault));
}

/// Checks the header. `fileBytes`: size of the file. Throws IndexFileError if the file cannot be used.
void CheckHeader(const std::string& path, const Header& header, std::uint64_t fileBytes)
{
  if (std::memcmp(header.Signature, Magic, sizeof(Magic)) != 0) {
    FailCorrupted(path, "the file is not an index file of PatchIO");
  }
  if (header.Order != ByteOrder || header.FormatVersion != Version || header.Layout != Header().Layout) {
    throw IndexFileError(FileFault::Foreign,
        fmt::format(
            "{}: another version of PatchIO or another type of machine has written the index file.", path));
  }
  if (header.Complete == 0) {
    throw IndexFileError(FileFault::Unfinished,
        fmt::format("{}: the index file is incomplete, because its writer was interrupted.", path));
  }
  if (header.Complete != 1 || header.FileBytes != fileBytes || header.PartCount < IndexFileHead::HeadParts ||
      header.PartCount > MostParts || header.PartCount > fileBytes / sizeof(PartEntry) ||
      TableEnd(header.PartCount) > fileBytes) {
    FailCorrupted(path, "the header is damaged, or the end of the file is missing");
  }
}

/// Throws IndexFileError with FileFault::Absent if there is no regular file at `path` or the user may not
/// search the folder, and with FileFault::Unreadable for other faults.
void CheckExists(const std::string& path)
{
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      throw IndexFileError(FileFault::Absent, fmt::format("{}: the path is not a regular file.", path));
    }
    return;
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENAMETOOLONG) {
    throw IndexFileError(FileFault::Absent,
        fmt::format("{}: the file does not exist, or you may not search its folder.", path));
  }
  throw IndexFileError(FileFault::Unreadable, SystemError(path, "a readable file", errno).what());
}

/// Reads `bytes` bytes from `offset` on into `into`. Throws IndexFileError with FileFault::Unreadable if not
/// all bytes can be read.
void ReadBytes(const PlainFile& file, std::uint64_t offset, void* into, std::size_t bytes)
{
  const std::string fault = CatchError([&] { file.Read(offset, into, bytes); });
  if (!fault.empty()) {
    throw IndexFileError(FileFault::Unreadable, fault);
  }
}

/// Returns the value of Header::HeadChecksum for the header and table `bytes`.
std::uint64_t HeadChecksum(std::vector<std::byte> bytes)
{
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.Complete = 0;
  header.HeadChecksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return Checksum(bytes.data(), bytes.size());
}

}  // namespace

IndexFileHead::IndexFileHead(std::vector<PartEntry> parts) : Entries(std::move(parts))
{
  assert(this->Entries.size() >= HeadParts);
  std::uint64_t offset = RoundUp(TableEnd(this->Entries.size()), Alignment);
  for (PartEntry& entry : this->Entries) {
    entry.Offset = offset;
    offset += RoundUp(entry.Length, Alignment);
  }
  this->Bytes = offset;
}

std::uint64_t IndexFileHead::ShardBegin() const
{
  return this->Entries.size() > HeadParts ? this->Entries[HeadParts].Offset : this->Bytes;
}

std::unique_ptr<PlainFile> OpenIndexFile(const std::string& path)
{
  CheckExists(path);
  std::unique_ptr<PlainFile> file;
  const std::string fault =
      CatchError([&] { file = std::make_unique<PlainFile>(path, PlainFile::Purpose::Read); });
  if (!fault.empty()) {
    CheckExists(path);  // another program may have removed the file meanwhile
    throw IndexFileError(FileFault::Unreadable, fault);
  }
  return file;
}

IndexFileHead IndexFileHead::Read(const PlainFile& file)
{
  const std::string& path = file.Path();
  const std::uint64_t fileBytes = file.Size();
  if (fileBytes < sizeof(Header)) {
    FailCorrupted(path, "the file is too short for an index file");
  }
  Header header;
  ReadBytes(file, 0, &header, sizeof(header));
  CheckHeader(path, header, fileBytes);
  std::vector<std::byte> bytes(TableEnd(header.PartCount));
  ReadBytes(file, 0, bytes.data(), bytes.size());
  if (HeadChecksum(bytes) != header.HeadChecksum) {
    FailCorrupted(path, "the header or the table is damaged");
  }
  std::vector<PartEntry> entries(header.PartCount);
  std::memcpy(entries.data(), bytes.data() + sizeof(Header), entries.size() * sizeof(PartEntry));
  for (const PartEntry& entry : entries) {
    if (entry.Length > fileBytes) {
      FailCorrupted(path, "the table is damaged");
    }
  }
  IndexFileHead head(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (head.Entries[i].Offset != entries[i].Offset || head.Bytes != fileBytes) {
      FailCorrupted(path, "the table is damaged");
    }
  }
  return head;
}

std::vector<std::byte> IndexFileHead::ReadPart(const PlainFile& file, std::size_t part) const
{
  const std::string& path = file.Path();
  const PartEntry& entry = this->Entries[part];
  if (entry.Length > AvailableMemory()) {
    throw IndexFileError(
        FileFault::Unreadable, fmt::format("{}: the index file is too large for the free memory.", path));
  }
  std::vector<std::byte> bytes(entry.Length);
  ReadBytes(file, entry.Offset, bytes.data(), bytes.size());
  if (Checksum(bytes.data(), bytes.size()) != entry.Checksum) {
    FailCorrupted(path, fmt::format("part {} is damaged", part));
  }
  return bytes;
}

std::vector<std::byte> IndexFileHead::Encode(bool complete) const
{
  Header header;
  std::memcpy(header.Signature, Magic, sizeof(Magic));
  header.PartCount = this->Entries.size();
  header.FileBytes = this->Bytes;
  std::vector<std::byte> bytes(TableEnd(this->Entries.size()));
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), this->Entries.data(), this->Entries.size() * sizeof(PartEntry));
  header.HeadChecksum = HeadChecksum(bytes);
  header.Complete = complete;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

namespace {

/// Writes the shard of this rank to its slice of the file, with several ranks by MPI. Returns the fault of
/// this rank, or an empty text. Collective: every rank of the communicator calls it.
std::string WriteShard(
    Communicator& ranks, const std::string& path, const PartEntry& slice, const std::byte* shard)
{
  if (ranks.Size() == 1) {
    return CatchError(
        [&] { PlainFile(path, PlainFile::Purpose::Update).Write(slice.Offset, shard, slice.Length); });
  }
  if (ranks.Mpi() == MPI_COMM_NULL) {
    return fmt::format("{}: the ranks cannot write a file together, because they do not use MPI.", path);
  }
  return WriteCollectively(ranks.Mpi(), path, slice.Offset, slice.Length, shard);
}

/// Throws Error with the first fault of `faults`, the faults of all ranks, unless all faults are empty.
/// Faults other than FaultOnOtherRank take precedence.
void ThrowFirstFault(const std::vector<std::string>& faults)
{
  std::string cause;
  for (const std::string& fault : faults) {
    if (!fault.empty() && (cause.empty() || cause == FaultOnOtherRank)) {
      cause = fault;
    }
  }
  ThrowFault(cause);
}

}  // namespace

void WriteIndexFile(Communicator& ranks, const std::string& path, const IndexFileHead& head,
    const std::vector<std::vector<std::byte>>& partsOfRank0, const std::byte* shard)
{
  assert(head.ShardCount() == static_cast<std::size_t>(ranks.Size()) || head.ShardCount() == 0);
  RunOnRankZero(ranks, [&] {
    const PlainFile file(path, PlainFile::Purpose::Create);
    file.Reserve(head.FileBytes());
    const std::vector<std::byte> begin = head.Encode(false);
    file.Write(0, begin.data(), begin.size());
    for (std::size_t part = 0; part < partsOfRank0.size(); ++part) {
      file.Write(head.Parts()[part].Offset, partsOfRank0[part].data(), partsOfRank0[part].size());
    }
  });
  if (head.ShardCount() > 0) {
    const std::string fault = WriteShard(ranks, path, head.ShardEntry(ranks.Rank()), shard);
    ThrowFirstFault(ranks.AllGather(fault));
  }
  RunOnRankZero(ranks, [&] {
    const PlainFile file(path, PlainFile::Purpose::Update);
    file.Flush();  // the flag must not reach the disk before the bytes that it confirms
    const std::vector<std::byte> begin = head.Encode(true);
    file.Write(0, begin.data(), sizeof(Header));
    file.Flush();
  });
}

}  // namespace patchio
