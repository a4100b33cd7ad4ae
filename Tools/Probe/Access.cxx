#include "Probe/Access.h"

#include "Probe/Circumstances.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cassert>
#include <cerrno>
#include <climits>
#include <vector>

namespace patchio::probe {
namespace {

class MpiAccess : public Access
{
public:
  MpiAccess(const Function& function, const Layout& layout, MPI_Comm comm, int inFlight)
      : What(function), Where(layout), Comm(comm), Calls(inFlight)
  {
  }

  std::string Open(const std::string& path) override
  {
    this->Lacking = LibraryLacks(this->What, path);
    return MpiMessage(MPI_File_open(this->Comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &this->File));
  }

  std::string SetView() override
  {
    MPI_Datatype type = MPI_BYTE;
    MPI_Offset begin = 0;
    // A shared pointer asks for the same view on all ranks; it shares the file out by itself.
    if (this->What.Where != Pointer::Shared && this->Where.Shape == View::Interleaved) {
      begin = static_cast<MPI_Offset>(this->Where.Rank * this->Where.Piece);
      const int code = this->MakeTypeWithHoles(&type);
      if (code != MPI_SUCCESS) {
        return MpiMessage(code);
      }
    } else if (this->What.Where != Pointer::Shared && this->Where.Shape == View::Own) {
      begin = static_cast<MPI_Offset>(this->Where.Rank * this->Where.PartBytes());
    }
    const int code = MPI_File_set_view(this->File, begin, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (type != MPI_BYTE) {
      MPI_Type_free(&type);
    }
    return MpiMessage(code);
  }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) override
  {
    if (this->Lacking) {
      return "the MPI library does not have this function";
    }
    Call& call = this->Calls[slot];
    call = {MPI_REQUEST_NULL, buffer, bytes};
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code =
        this->What.Begin(this->File, static_cast<MPI_Offset>(offset), buffer, bytes, &call.Request, &status);
    this->Spent += MPI_Wtime() - begin;
    return this->What.How == Completion::Blocking ? Judge(code, &status, bytes) : MpiMessage(code);
  }

  std::string Finish(int slot) override
  {
    Call& call = this->Calls[slot];
    if (this->What.How == Completion::Blocking || this->Lacking) {
      return {};
    }
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code = this->What.How == Completion::Split ? this->What.End(this->File, call.Buffer, &status)
                                                         : MPI_Wait(&call.Request, &status);
    this->Spent += MPI_Wtime() - begin;
    return Judge(code, &status, call.Bytes);
  }

  std::string Sync() override { return MpiMessage(MPI_File_sync(this->File)); }
  std::string Close() override { return MpiMessage(MPI_File_close(&this->File)); }

private:
  /// What is on its way.
  struct Call
  {
    MPI_Request Request = MPI_REQUEST_NULL;
    std::byte* Buffer = nullptr;
    int Bytes = 0;
  };

  static std::string Judge(int code, MPI_Status* status, int bytes)
  {
    if (code != MPI_SUCCESS) {
      return MpiMessage(code);
    }
    int moved = 0;
    MPI_Get_count(status, MPI_BYTE, &moved);
    return moved == bytes ? std::string() : fmt::format("moved {} of {} bytes", moved, bytes);
  }

  /// A piece, and a hole behind it for those of the other ranks.
  int MakeTypeWithHoles(MPI_Datatype* type) const
  {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    const auto bytes = static_cast<int>(this->Where.Piece);
    const auto extent = static_cast<MPI_Aint>(this->Where.Piece * this->Where.Ranks);
    int code = MPI_Type_vector(1, bytes, bytes, MPI_BYTE, &piece);
    if (code == MPI_SUCCESS) {
      code = MPI_Type_create_resized(piece, 0, extent, type);
      MPI_Type_free(&piece);
    }
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
  }

  const Function& What;
  const Layout& Where;
  MPI_Comm Comm;
  MPI_File File = MPI_FILE_NULL;
  std::vector<Call> Calls;
  bool Lacking = false;  ///< the library has no such function
};

class PosixAccess : public Access
{
public:
  PosixAccess(const Function& function, const Layout& layout) : What(function), Where(layout) {}
  ~PosixAccess() override { this->Close(); }

  std::string Open(const std::string& path) override
  {
    this->File = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (this->What.Direct ? O_DIRECT : 0));
    return this->File >= 0 ? std::string() : SystemMessage(errno);
  }

  std::string SetView() override { return {}; }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int) override
  {
    std::string fault;
    const double begin = MPI_Wtime();
    this->Where.ForRuns(offset, bytes, [&](const Layout::Run& run) {
      if (fault.empty()) {
        fault = this->Move(run, buffer);
      }
    });
    this->Spent += MPI_Wtime() - begin;
    return fault;
  }

  std::string Finish(int) override { return {}; }
  std::string Sync() override { return ::fsync(this->File) == 0 ? std::string() : SystemMessage(errno); }

  std::string Close() override
  {
    const bool good = this->File < 0 || ::close(this->File) == 0;
    this->File = -1;
    return good ? std::string() : SystemMessage(errno);
  }

private:
  std::string Move(const Layout::Run& run, std::byte* buffer) const
  {
    for (std::uint64_t done = 0; done < run.Bytes;) {
      std::byte* const memory = buffer + run.Begin + done;
      const ssize_t now = this->What.Write
                              ? ::pwrite(this->File, memory, run.Bytes - done, run.FileOffset + done)
                              : ::pread(this->File, memory, run.Bytes - done, run.FileOffset + done);
      if (now == 0) {
        return "the file ends too early";
      }
      if (now < 0 && errno != EINTR) {
        return SystemMessage(errno) +
               (this->What.Direct
                       ? " (O_DIRECT requires whole sectors on some storages and is not supported on others)"
                       : "");
      }
      done += now > 0 ? now : 0;
    }
    return {};
  }

  const Function& What;
  const Layout& Where;
  int File = -1;
};

}  // namespace

std::string MpiMessage(int code)
{
  if (code == MPI_SUCCESS) {
    return {};
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
    return fmt::format("MPI error {}", code);
  }
  return std::string(text, length);
}

std::unique_ptr<Access> MakeAccess(
    const Function& function, const Layout& layout, MPI_Comm comm, int inFlight)
{
  if (function.Where == Pointer::Posix) {
    return std::make_unique<PosixAccess>(function, layout);
  }
  return std::make_unique<MpiAccess>(function, layout, comm, inFlight);
}

}  // namespace patchio::probe
