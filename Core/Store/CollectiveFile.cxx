#include "Store/CollectiveFile.h"

#include "Base/Error.h"
#include "Base/PlainFile.h"
#include "Base/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio {
namespace {

/// MPI counts are int, so long slices go in rounds, as many on all ranks.
constexpr std::uint64_t RoundBytes = std::uint64_t(1) << 30;

std::string MpiMessage(const char* what, int code)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return fmt::format("{}: {}", what, std::string(text, length));
}

/// True when it is on all ranks.
bool OnAll(MPI_Comm comm, bool mine)
{
  int all = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

/// An open file of MPI-IO, on all ranks or on none. Faults are texts, complete sentences: every rank goes
/// through all collective calls.
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
    // MPI_File_open and MPI_File_close wait for all ranks, and a rank that cannot open the file is in neither
    // for long. So each finds out by itself first, and none calls MPI when one of them cannot.
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

  /// Gives what went wrong on this rank.
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
      // Where it is open it stays so: closing would wait for the ranks that have nothing to close.
      this->File = MPI_FILE_NULL;
      this->Note(FaultElsewhere);
    }
    if (this->IsOpen()) {
      MPI_File_set_errhandler(this->File, MPI_ERRORS_RETURN);  // the default, unless somebody has changed it
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
      this->NoteOfFile(MpiMessage(what, code));
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
  // Whole pages each.
  const std::uint64_t slice = (bytes / size + 4096) / 4096 * 4096;
  const std::uint64_t first = std::min(bytes, rank * slice);
  const std::uint64_t mine = std::min(bytes - first, slice);
  MpiFile file(comm, path, MpiFile::Purpose::Read);
  if (file.IsOpen()) {
    file.SetView(begin + first);
    file.ReadAll(into + first, mine);
  }
  return file.Close();
}

}  // namespace patchio
