// The functions under test: all of MPI-IO that moves data, and POSIX beside them.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace patchio::probe {

/// The way in which a call knows the place of the next bytes in the file.
enum class Pointer
{
  Explicit,    ///< the caller says it with every call
  Individual,  ///< every rank has a pointer of its own
  Shared,      ///< all ranks have one together
  Posix        ///< no MPI-IO: pread and pwrite
};

/// When a call is over.
enum class Completion
{
  Blocking,
  NonBlocking,  ///< MPI_Wait ends it
  Split         ///< ..._begin starts it, ..._end ends it
};

/// Moves, or begins to move, `bytes` between `buffer` and the file. `offset` in the view is used by functions
/// with explicit offsets, `request` by non-blocking and `status` by blocking ones. Gives an MPI error code.
using BeginCall = int (*)(
    MPI_File file, MPI_Offset offset, void* buffer, int bytes, MPI_Request* request, MPI_Status* status);
/// Ends what a split function began.
using EndCall = int (*)(MPI_File file, void* buffer, MPI_Status* status);

struct Function
{
  std::string Name;  ///< that of MPI without "MPI_File_"; split ones have the name that begins them
  Pointer Where = Pointer::Explicit;
  Completion How = Completion::Blocking;
  bool Collective = false;
  bool Write = false;
  bool Direct = false;  ///< with O_DIRECT; POSIX only
  BeginCall Begin = nullptr;
  EndCall End = nullptr;
};

/// In the order of the MPI standard, reading before writing, POSIX last.
const std::vector<Function>& AllFunctions();

/// The functions that have one of these names, or belong to one of these groups: all, reads, writes,
/// explicit, individual-pointer, shared, posix, collective, individual, blocking, nonblocking, split. Each
/// once, in the order of AllFunctions(). Throws Error on a word that is neither.
std::vector<Function> SelectFunctions(const std::vector<std::string>& words);

}  // namespace patchio::probe
