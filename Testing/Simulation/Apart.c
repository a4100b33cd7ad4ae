/* A simulation whose rank 2 differs from the other ranks at step 2. Prints the message of each failed call,
 * and its seconds.
 * usage: Apart CONFIGURATION WHAT [CONFIGURATION_OF_RANK_2]
 * WHAT: nothing, stop, skip, flush, patches, finalize, open, number, time, grid, variable. */
#include <patchio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, faults;
static double begin;

static int told(const char* call, int fault, const patchio_output* out)
{
  if (fault) {
    printf("rank %d, %s, %.1f s: %s\n", rank, call, MPI_Wtime() - begin, patchio_error(out));
    fflush(stdout);
    ++faults;
  }
  begin = MPI_Wtime();
  return fault;
}

/* Stops this process until a signal continues it. */
static void stop(void)
{
  char command[64];
  snprintf(command, sizeof command, "(sleep 5; kill -CONT %d) &", (int)getpid());
  if (system(command) == 0) {
    raise(SIGSTOP);
  }
}

int main(int argc, char** argv)
{
  const char* what = argv[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int odd = rank == 2;
  begin = MPI_Wtime();
  if (odd && strcmp(what, "open") == 0) {
    stop();
  }
  patchio_output* out = patchio_open(odd && argc > 3 ? argv[3] : argv[1], MPI_COMM_WORLD);
  if (told("open", !out, NULL)) {
    MPI_Finalize();
    return 2;
  }
  MPI_Comm compute;
  told("compute", patchio_compute(out, &compute), out);
  if (compute == MPI_COMM_NULL) {
    told("close", patchio_close(out), NULL);
    MPI_Finalize();
    return faults > 0;
  }
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, odd && strcmp(what, "grid") == 0 ? 2 : 1, 1};
  const patchio_patch mine = {0, {4 * rank, 0, 0}, {4 * rank + 3, 3, 3}};
  double array[64];
  const void* values[1] = {array};
  told("grid", patchio_grid(out, 3, origin, spacing, 1, NULL), out);
  told("patches", patchio_patches(out, 1, &mine), out);
  told("variable", patchio_variable(out, odd && strcmp(what, "variable") == 0 ? "other" : "a", NULL, PATCHIO_DOUBLE, 1, PATCHIO_CELLS, NULL), out);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < 64; ++i) {
      array[i] = 1000 * step + 100 * rank + i;
    }
    const int now = odd && step == 2;
    if (now && strcmp(what, "stop") == 0) {
      stop();
    } else if (now && strcmp(what, "skip") == 0) {
      continue;
    } else if (now && strcmp(what, "flush") == 0) {
      told("flush", patchio_flush(out), out);
      continue;
    } else if (now && strcmp(what, "patches") == 0) {
      told("patches", patchio_patches(out, 1, &mine), out);
      continue;
    } else if (now && strcmp(what, "finalize") == 0) {
      MPI_Finalize();
      return 0;
    }
    begin = MPI_Wtime();
    char call[32];
    snprintf(call, sizeof call, "step %d", step);
    told(call, patchio_write(out, step + (now && strcmp(what, "number") == 0 ? 10 : 0), step + (now && strcmp(what, "time") == 0 ? 0.5 : 0), values), out);
  }
  told("flush", patchio_flush(out), out);
  told("close", patchio_close(out), NULL);
  MPI_Finalize();
  return faults > 0;
}
