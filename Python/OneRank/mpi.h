// A replacement of MPI's header for builds without MPI (PATCHIO_WITH_MPI=OFF), with the names of MPI that
// Core uses.
//
// A build without MPI has one rank and no communicator: Communicator::Mpi() returns MPI_COMM_NULL, and Core
// then calls only the four functions below that succeed. All other functions do nothing and return
// MPI_ERR_OTHER.
#pragma once

using MPI_Comm = int;
using MPI_Datatype = int;
using MPI_Errhandler = int;
using MPI_File = int;
using MPI_Info = int;
using MPI_Offset = long long;
using MPI_Op = int;
using MPI_Request = int;
struct MPI_Status
{
  int MPI_SOURCE = 0;
};

enum
{
  MPI_SUCCESS,
  MPI_ERR_OTHER
};
constexpr MPI_Comm MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1;
constexpr MPI_Datatype MPI_BYTE = 1, MPI_CHAR = 2, MPI_INT = 3, MPI_DOUBLE = 4, MPI_UINT64_T = 5;
constexpr MPI_Errhandler MPI_ERRORS_RETURN = 1;
constexpr MPI_File MPI_FILE_NULL = 0;
constexpr MPI_Info MPI_INFO_NULL = 0;
constexpr MPI_Op MPI_MAX = 1, MPI_MIN = 2, MPI_SUM = 3;
constexpr MPI_Request MPI_REQUEST_NULL = 0;
constexpr int MPI_ANY_SOURCE = -1, MPI_COMM_TYPE_SHARED = 1, MPI_MAX_ERROR_STRING = 1,
              MPI_MAX_LIBRARY_VERSION_STRING = 8, MPI_MODE_RDONLY = 1, MPI_MODE_WRONLY = 2,
              MPI_THREAD_MULTIPLE = 3, MPI_UNDEFINED = -1;
constexpr void* MPI_IN_PLACE = nullptr;
constexpr MPI_Status* MPI_STATUS_IGNORE = nullptr;
constexpr MPI_Status* MPI_STATUSES_IGNORE = nullptr;

inline int MPI_Get_library_version(char* version, int* length)
{
  *length = 0;
  *version = '\0';
  return MPI_SUCCESS;
}
inline int MPI_Comm_rank(MPI_Comm, int* rank)
{
  *rank = 0;
  return MPI_SUCCESS;
}
inline int MPI_Comm_size(MPI_Comm, int* size)
{
  *size = 1;
  return MPI_SUCCESS;
}
inline int MPI_Finalized(int* finalized)
{
  *finalized = 1;
  return MPI_SUCCESS;
}

#define PATCHIO_NO_MPI(name)       \
  template <typename... Arguments> \
  int name(const Arguments&...)    \
  {                                \
    return MPI_ERR_OTHER;          \
  }
PATCHIO_NO_MPI(MPI_Allgather)
PATCHIO_NO_MPI(MPI_Allgatherv)
PATCHIO_NO_MPI(MPI_Allreduce)
PATCHIO_NO_MPI(MPI_Alltoall)
PATCHIO_NO_MPI(MPI_Bcast)
PATCHIO_NO_MPI(MPI_Comm_dup)
PATCHIO_NO_MPI(MPI_Comm_free)
PATCHIO_NO_MPI(MPI_Comm_idup)
PATCHIO_NO_MPI(MPI_Comm_set_errhandler)
PATCHIO_NO_MPI(MPI_Comm_split)
PATCHIO_NO_MPI(MPI_Comm_split_type)
PATCHIO_NO_MPI(MPI_Error_string)
PATCHIO_NO_MPI(MPI_File_close)
PATCHIO_NO_MPI(MPI_File_open)
PATCHIO_NO_MPI(MPI_File_read_all)
PATCHIO_NO_MPI(MPI_File_set_errhandler)
PATCHIO_NO_MPI(MPI_File_set_view)
PATCHIO_NO_MPI(MPI_File_sync)
PATCHIO_NO_MPI(MPI_File_write_all)
PATCHIO_NO_MPI(MPI_Gather)
PATCHIO_NO_MPI(MPI_Get_count)
PATCHIO_NO_MPI(MPI_Iallgather)
PATCHIO_NO_MPI(MPI_Iallgatherv)
PATCHIO_NO_MPI(MPI_Iallreduce)
PATCHIO_NO_MPI(MPI_Ialltoall)
PATCHIO_NO_MPI(MPI_Ibarrier)
PATCHIO_NO_MPI(MPI_Ibcast)
PATCHIO_NO_MPI(MPI_Iprobe)
PATCHIO_NO_MPI(MPI_Irecv)
PATCHIO_NO_MPI(MPI_Isend)
PATCHIO_NO_MPI(MPI_Issend)
PATCHIO_NO_MPI(MPI_Recv)
PATCHIO_NO_MPI(MPI_Send)
PATCHIO_NO_MPI(MPI_Test)
PATCHIO_NO_MPI(MPI_Testall)
PATCHIO_NO_MPI(MPI_Waitall)
#undef PATCHIO_NO_MPI
