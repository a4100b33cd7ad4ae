// The functions to measure: all functions of MPI-IO that move data, and pread and pwrite.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace patchio::probe {

/// The source of the file offset of a call; MPI calls this property "positioning".
enum class Pointer
{
  Explicit,    ///< an argument of each call
  Individual,  ///< the file pointer of each rank
  Shared,      ///< one file pointer of all ranks
  Posix        ///< pread and pwrite instead of MPI-IO
};

/// The way in which a call completes; MPI calls this property "synchronism".
enum class Completion
{
  Blocking,
  NonBlocking,  ///< MPI_Wait ends the call
  Split         ///< ..._begin starts the call, and ..._end ends the call
};

/// Reads or writes `bytes` bytes of `buffer`, or begins to do so. Functions with explicit offsets use
/// `offset`, in bytes in the view; non-blocking functions set `request`, and blocking functions set `status`.
/// Returns an MPI error code.
using BeginCall = int (*)(
    MPI_File file, MPI_Offset offset, void* buffer, int bytes, MPI_Request* request, MPI_Status* status);
/// Completes the call that a split function began. Returns an MPI error code.
using EndCall = int (*)(MPI_File file, void* buffer, MPI_Status* status);

struct Function
{
  std::string Name;  ///< name in MPI without "MPI_File_", or pread, pwrite_direct and so on; of a split
                     ///< function, the name of the first call
  Pointer Positioning = Pointer::Explicit;
  Completion Synchronism = Completion::Blocking;
  bool Collective = false;
  bool Write = false;
  bool Direct = false;        ///< uses O_DIRECT; POSIX only
  BeginCall Begin = nullptr;  ///< null for POSIX
  EndCall End = nullptr;      ///< null unless Synchronism is Split
};

/// Returns all functions in the order of the MPI standard, with reading before writing and POSIX last.
const std::vector<Function>& AllFunctions();

/// Returns the functions that `words` name, each once, in the order of AllFunctions(). A word is the name of
/// a function or of a group: all, reads, writes, explicit, individual-pointer, shared, posix, collective,
/// individual, blocking, nonblocking, split. Throws Error for any other word.
std::vector<Function> SelectFunctions(const std::vector<std::string>& words);

}  // namespace patchio::probe
