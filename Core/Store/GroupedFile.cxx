#include "Store/GroupedFile.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
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

/// Bytes of one MPI call. MPI counts are int, so a long slice takes several rounds, equally many on all
/// ranks.
constexpr std::uint64_t RoundBytes = std::uint64_t(1) << 30;

/// Returns whether `holds` is true on all ranks. Collective: every rank of the communicator calls it.
bool OnAll(MPI_Comm comm, bool holds)
{
  int all = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

/// A file opened with MPI-IO, on all ranks or on none. Faults are kept as texts and not thrown, because every
/// rank must go through all collective calls.
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
    // MPI_File_open and MPI_File_close wait for all ranks, but a rank that cannot open the file returns early
    // from both. Therefore each rank first tries to open the file without MPI, and no rank calls MPI if one
    // rank fails.
    const bool reads = purpose == Purpose::Read;
    this->Note(
        CatchError([&] { PlainFile(path, reads ? PlainFile::Purpose::Read : PlainFile::Purpose::Update); }));
    if (OnAll(comm, this->Fault.empty())) {
      this->Open(reads ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
    } else {
      this->Note(FaultElsewhere);
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
    this->InRounds(bytes, [&](std::uint64_t begin, int count, MPI_Status* status) {
      return MPI_File_write_all(this->File, data + begin, count, MPI_BYTE, status);
    });
    this->Check("MPI_File_sync", MPI_File_sync(this->File));
  }

  void ReadAll(std::byte* into, std::uint64_t bytes)
  {
    this->InRounds(bytes, [&](std::uint64_t begin, int count, MPI_Status* status) {
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
    if (!OnAll(this->Comm, code == MPI_SUCCESS)) {
      // Ranks that have opened the file leave it open: closing would wait for the ranks that have not.
      this->File = MPI_FILE_NULL;
      this->Note(FaultElsewhere);
    }
    if (this->IsOpen()) {
      MPI_File_set_errhandler(this->File, MPI_ERRORS_RETURN);  // the default, unless it was changed
    }
  }

  template <typename Transfer>
  void InRounds(std::uint64_t bytes, Transfer transfer)
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
        this->NoteOfFile(fmt::format("{} of {} bytes", done, count));
      }
    }
  }

  void Check(const char* what, int code)
  {
    if (code != MPI_SUCCESS) {
      this->NoteOfFile(fmt::format("{}: {}", what, MpiErrorText(code)));
    }
  }
  void NoteOfFile(const std::string& found)
  {
    this->Note(FileError(this->Path, "a file that the ranks can read or write together", found).what());
  }
  void Note(const std::string& fault)
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
  // Each slice is a whole number of pages.
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

/// Version of the file's layout. Increased whenever the meaning of any byte changes, including the bytes of
/// Catalog::Serialize.
constexpr std::uint32_t Version = 10;
constexpr std::uint32_t ByteOrder = 0x01020304;
/// Limit on the number of parts, larger than any run's number of ranks. This limit bounds the memory of the
/// table, which is read before its checksum can be compared.
constexpr std::uint64_t MostParts = std::uint64_t(1) << 20;
constexpr char Magic[8] = {'P', 'a', 't', 'c', 'h', 'I', 'O', '\x1a'};

struct Header
{
  char Letters[8] = {};
  std::uint32_t Order = ByteOrder;
  std::uint32_t FormatVersion = Version;
  /// Sizes of the records that are stored as they lie in memory: a guard against files of a machine with
  /// another layout.
  std::uint32_t Layout =
      sizeof(Patch) << 24 | sizeof(Level) << 16 | sizeof(ByteRange) << 8 | sizeof(ChunkedArray);
  std::uint32_t Complete = 0;  ///< the success flag, set last
  std::uint64_t PartCount = 0;
  std::uint64_t FileBytes = 0;
  std::uint64_t HeadChecksum = 0;  ///< checksum of header and table, with this field and the flag taken as 0
  std::uint64_t Reserved[2] = {};
};
static_assert(sizeof(Header) == 64);

constexpr std::uint64_t Aligned(std::uint64_t bytes)
{
  return (bytes + IndexFileHead::Alignment - 1) / IndexFileHead::Alignment * IndexFileHead::Alignment;
}

std::uint64_t TableEnd(std::uint64_t parts)
{
  return sizeof(Header) + parts * sizeof(PartEntry);
}

[[noreturn]] void Corrupted(const std::string& path, const std::string& what)
{
  throw IndexFileError(FileFault::Corrupted, fmt::format("{}: {}.", path, what));
}

/// Checks everything that needs only the header. Throws IndexFileError.
void CheckHeader(const std::string& path, const Header& header, std::uint64_t fileBytes)
{
  if (std::memcmp(header.Letters, Magic, sizeof(Magic)) != 0) {
    Corrupted(path, "not an index file of PatchIO");
  }
  if (header.Order != ByteOrder || header.FormatVersion != Version || header.Layout != Header().Layout) {
    throw IndexFileError(FileFault::Foreign, fmt::format("{}: written by another version of PatchIO.", path));
  }
  if (header.Complete == 0) {
    throw IndexFileError(
        FileFault::Unfinished, fmt::format("{}: incomplete, because its writer was interrupted.", path));
  }
  if (header.Complete != 1 || header.FileBytes != fileBytes || header.PartCount < IndexFileHead::HeadParts ||
      header.PartCount > MostParts || header.PartCount > fileBytes / sizeof(PartEntry) ||
      TableEnd(header.PartCount) > fileBytes) {
    Corrupted(path, "the header is damaged, or the end is missing");
  }
}

/// Throws IndexFileError with FileFault::Absent if `path` is not a plain file or lies in a folder that the
/// user may not search.
void CheckPlain(const std::string& path)
{
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      throw IndexFileError(FileFault::Absent, fmt::format("{}: not a regular file.", path));
    }
    return;
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENAMETOOLONG) {
    throw IndexFileError(FileFault::Absent, fmt::format("{}: the file does not exist.", path));
  }
  throw IndexFileError(FileFault::Unreadable, SystemError(path, "a readable file", errno).what());
}

/// Reads bytes. A failure of the storage makes the file unreadable, not corrupted.
void ReadBytes(const PlainFile& file, std::uint64_t offset, void* into, std::size_t bytes)
{
  const std::string fault = CatchError([&] { file.Read(offset, into, bytes); });
  if (!fault.empty()) {
    throw IndexFileError(FileFault::Unreadable, fault);
  }
}

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
  std::uint64_t offset = Aligned(TableEnd(this->Entries.size()));
  for (PartEntry& entry : this->Entries) {
    entry.Offset = offset;
    offset += Aligned(entry.Length);
  }
  this->Bytes = offset;
}

std::uint64_t IndexFileHead::ShardBegin() const
{
  return this->Entries.size() > HeadParts ? this->Entries[HeadParts].Offset : this->Bytes;
}

std::unique_ptr<PlainFile> OpenIndexFile(const std::string& path)
{
  CheckPlain(path);
  std::unique_ptr<PlainFile> file;
  const std::string fault =
      CatchError([&] { file = std::make_unique<PlainFile>(path, PlainFile::Purpose::Read); });
  if (!fault.empty()) {
    CheckPlain(path);  // the file may have been removed just now
    throw IndexFileError(FileFault::Unreadable, fault);
  }
  return file;
}

IndexFileHead IndexFileHead::Read(const PlainFile& file)
{
  const std::string& path = file.Path();
  const std::uint64_t fileBytes = file.Size();
  if (fileBytes < sizeof(Header)) {
    Corrupted(path, "too short for an index file");
  }
  Header header;
  ReadBytes(file, 0, &header, sizeof(header));
  CheckHeader(path, header, fileBytes);
  std::vector<std::byte> bytes(TableEnd(header.PartCount));
  ReadBytes(file, 0, bytes.data(), bytes.size());
  if (HeadChecksum(bytes) != header.HeadChecksum) {
    Corrupted(path, "the header or the table is damaged");
  }
  std::vector<PartEntry> entries(header.PartCount);
  std::memcpy(entries.data(), bytes.data() + sizeof(Header), entries.size() * sizeof(PartEntry));
  for (const PartEntry& entry : entries) {
    if (entry.Length > fileBytes) {
      Corrupted(path, "the table is damaged");
    }
  }
  IndexFileHead head(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (head.Entries[i].Offset != entries[i].Offset || head.Bytes != fileBytes) {
      Corrupted(path, "the table is damaged");
    }
  }
  return head;
}

std::vector<std::byte> IndexFileHead::ReadPart(const PlainFile& file, std::size_t part) const
{
  const std::string& path = file.Path();
  const PartEntry& entry = this->Entries[part];
  if (entry.Length > AvailableMemory()) {
    throw IndexFileError(FileFault::Unreadable, fmt::format("{}: too large for the free memory.", path));
  }
  std::vector<std::byte> bytes(entry.Length);
  ReadBytes(file, entry.Offset, bytes.data(), bytes.size());
  if (Checksum(bytes.data(), bytes.size()) != entry.Checksum) {
    Corrupted(path, fmt::format("part {} is damaged", part));
  }
  return bytes;
}

std::vector<std::byte> IndexFileHead::Encode(bool complete) const
{
  Header header;
  std::memcpy(header.Letters, Magic, sizeof(Magic));
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

std::string WriteShard(
    Communicator& comm, const std::string& path, const PartEntry& slice, const std::byte* shard)
{
  if (comm.Size() == 1) {
    return CatchError(
        [&] { PlainFile(path, PlainFile::Purpose::Update).Write(slice.Offset, shard, slice.Length); });
  }
  if (comm.Mpi() == MPI_COMM_NULL) {
    return fmt::format("{}: the ranks cannot write a file together, because they do not use MPI.", path);
  }
  return WriteCollectively(comm.Mpi(), path, slice.Offset, slice.Length, shard);
}

/// Throws the first fault of any rank, if there is one. A fault with its own cause takes precedence over
/// FaultElsewhere.
void ThrowCause(const std::vector<std::string>& faults)
{
  std::string cause;
  for (const std::string& fault : faults) {
    if (!fault.empty() && (cause.empty() || cause == FaultElsewhere)) {
      cause = fault;
    }
  }
  if (!cause.empty()) {
    throw Error(cause);
  }
}

void OnMaster(Communicator& comm, const std::function<void()>& work)
{
  RunOnAllRanks(comm, [&] {
    if (comm.Rank() == 0) {
      work();
    }
  });
}

}  // namespace

void WriteIndexFile(Communicator& comm, const std::string& path, const IndexFileHead& head,
    const std::vector<std::vector<std::byte>>& partsOfRank0, const std::byte* shard)
{
  assert(head.ShardCount() == static_cast<std::size_t>(comm.Size()) || head.ShardCount() == 0);
  OnMaster(comm, [&] {
    const PlainFile file(path, PlainFile::Purpose::Create);
    file.Reserve(head.FileBytes());
    const std::vector<std::byte> begin = head.Encode(false);
    file.Write(0, begin.data(), begin.size());
    for (std::size_t part = 0; part < partsOfRank0.size(); ++part) {
      file.Write(head.Parts()[part].Offset, partsOfRank0[part].data(), partsOfRank0[part].size());
    }
  });
  if (head.ShardCount() > 0) {
    const std::string fault = WriteShard(comm, path, head.ShardEntry(comm.Rank()), shard);
    ThrowCause(comm.AllGather(fault));
  }
  OnMaster(comm, [&] {
    const PlainFile file(path, PlainFile::Purpose::Update);
    file.Flush();  // the flag must not reach the disk before the bytes that it confirms
    const std::vector<std::byte> begin = head.Encode(true);
    file.Write(0, begin.data(), sizeof(Header));
    file.Flush();
  });
}

}  // namespace patchio
