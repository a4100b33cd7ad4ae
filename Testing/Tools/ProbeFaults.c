/* A preloaded library with faults in functions of MPI-IO, which $PROBE_FAULT selects and the probe must
 * detect. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int Wanted(const char* name)
{
  const char* fault = getenv("PROBE_FAULT");
  return fault && strcmp(fault, name) == 0;
}

/* Returns values that are not in the file. */
int MPI_File_read_at(
    MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  const int code = PMPI_File_read_at(file, offset, buffer, count, type, status);
  if (Wanted("read_at")) {
    ((char*)buffer)[count - 1] ^= 1;
  }
  return code;
}

/* Writes other values than those in the buffer. */
int MPI_File_write_at(
    MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  int code;
  char* copy = malloc(count);
  memcpy(copy, buffer, count);
  if (Wanted("write_at")) {
    copy[count / 2] ^= 1;
  }
  code = PMPI_File_write_at(file, offset, copy, count, type, status);
  free(copy);
  return code;
}

/* Writes nothing, without an error. */
int MPI_File_write_all(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  return PMPI_File_write_all(file, buffer, Wanted("write_all") ? 0 : count, type, status);
}

/* Each rank gets the first block. */
int MPI_File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  if (Wanted("read_shared")) {
    return PMPI_File_read_at(file, 0, buffer, count, type, status);
  }
  return PMPI_File_read_shared(file, buffer, count, type, status);
}

/* Writes the same block twice, and another one never. */
int MPI_File_write_shared(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  static char first[1 << 16];
  static int calls = 0;
  if (Wanted("write_shared") && count <= (int)sizeof(first)) {
    if (calls++ == 0) {
      memcpy(first, buffer, count);
    }
    buffer = first;
  }
  return PMPI_File_write_shared(file, buffer, count, type, status);
}

/* Fails on one rank only. */
int MPI_File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status)
{
  int rank = 0;
  const int code = PMPI_File_read_all(file, buffer, count, type, status);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return Wanted("read_all") && rank == 1 ? MPI_ERR_UNSUPPORTED_OPERATION : code;
}

static int PidToInterrupt = 0;

/* Ctrl-C reaches rank N ("interrupt_N") when the last rank is about to open the file that the others have open. */
int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file)
{
  static int calls = 0;
  const char* fault = getenv("PROBE_FAULT");
  int victim, rank, size, pid = getpid();
  if (fault && sscanf(fault, "interrupt_%d", &victim) == 1 && ++calls == 3) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Bcast(&pid, 1, MPI_INT, victim, comm);
    PidToInterrupt = rank == size - 1 ? pid : 0;
  }
  return PMPI_File_open(comm, path, mode, info, file);
}

/* The function with which MPI opens files. */
int open(const char* path, int flags, ...)
{
  va_list more;
  int mode;
  va_start(more, flags);
  mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  if (PidToInterrupt && strstr(path, "/data_")) {
    const int OpeningTakes = 300000; /* microseconds, much more than it does */
    usleep(OpeningTakes);
    kill(PidToInterrupt, SIGINT);
    PidToInterrupt = 0;
    usleep(OpeningTakes);
  }
  return openat(AT_FDCWD, path, flags, mode);
}
