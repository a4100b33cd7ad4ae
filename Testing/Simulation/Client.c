/* A simulation with known output: changing levels of patches, arrays with ghosts, variables that some patches
 * lack. output.py has the same formula and the same patches.
 * usage: Client CONFIGURATION STEPS [MILLISECONDS_A_STEP] */
#include <patchio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 32, TILE = 8, MOST = 64, VARIABLES = 4 };

static const int ghosts[VARIABLES][3] = {{2, 1, 0}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}};
static const int sizes[VARIABLES] = {8, 4, 4, 8}, components[VARIABLES] = {1, 1, 2, 1}, nodes[VARIABLES] = {0, 1, 0, 0};

static double value(int variable, int level, int step, int x, int y, int z, int component)
{
  return 100000 * step + 10000 * variable + 5000 * level + x + 31 * y + 7 * z + 0.25 * component;
}

/* Sets `mine` to the tiles of both levels at a step and returns their number. The fine tiles, 2 x 2 for a
 * coarse tile, move from step to step. */
static int patches_of(int step, int rank, int ranks, patchio_patch* mine)
{
  int count = 0, number = 0;
  for (int level = 0; level < 2; ++level) {
    const int across = level ? 2 : CELLS / TILE, first = level ? 2 * (step / 2 % 3) : 0;
    for (int j = 0; j < across; ++j)
      for (int i = 0; i < across; ++i, ++number)
        if ((number + step / 2) % ranks == rank) {
          const patchio_patch tile = {level, {(first + i) * TILE, j * TILE, 0}, {(first + i + 1) * TILE - 1, (j + 1) * TILE - 1, 3 + 4 * level}};
          mine[count++] = tile;
        }
  }
  return count;
}

static void* array_of(int variable, int step, const patchio_patch* patch)
{
  int low[3], n[3];
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = patch->lower[axis] - ghosts[variable][axis];
    n[axis] = patch->upper[axis] - patch->lower[axis] + 1 + nodes[variable] + 2 * ghosts[variable][axis];
  }
  char* array = malloc((size_t)n[0] * n[1] * n[2] * components[variable] * sizes[variable]);
  char* next = array;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x)
        for (int c = 0; c < components[variable]; ++c, next += sizes[variable]) {
          const double v = value(variable, patch->level, step, low[0] + x, low[1] + y, low[2] + z, c);
          const float f = (float)v;
          const int whole = (int)(4 * v);
          memcpy(next, variable == 2 ? (const void*)&whole : variable == 1 ? (const void*)&f : (const void*)&v, sizes[variable]);
        }
  return array;
}

static int tell(int rank, const char* when, int fault, const patchio_output* out)
{
  if (fault) {
    printf("rank %d, %s: %s\n", rank, when, patchio_error(out));
  }
  return fault;
}

int main(int argc, char** argv)
{
  int rank, ranks, faults = 0;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  /* a rank that waits in MPI_Finalize() has told its faults */
  MPI_Init(&argc, &argv);
  MPI_Comm compute;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  patchio_output* out = patchio_open(argc > 1 ? argv[1] : "", MPI_COMM_WORLD);
  if (!out) {
    tell(rank, "open", 1, NULL);
    MPI_Finalize();
    return 2;
  }
  faults += tell(rank, "compute", patchio_compute(out, &compute), out);
  if (compute == MPI_COMM_NULL) {
    faults += tell(rank, "close", patchio_close(out), NULL);
    MPI_Finalize();
    return faults ? 1 : 0;
  }
  MPI_Comm_rank(compute, &rank);
  MPI_Comm_size(compute, &ranks);
  const double origin[3] = {1, 2, 3}, spacing[3] = {0.5, 0.25, 2};
  const int32_t ratios[9] = {1, 1, 1, 2, 2, 2, 2, 2, 2};
  faults += tell(rank, "grid", patchio_grid(out, 3, origin, spacing, 3, ratios), out);
  faults += tell(rank, "a", patchio_variable(out, "a", "the first in m", PATCHIO_DOUBLE, 1, PATCHIO_CELLS, ghosts[0]), out);
  faults += tell(rank, "b", patchio_variable(out, "b", NULL, PATCHIO_FLOAT, 1, PATCHIO_NODES, NULL), out);
  faults += tell(rank, "c", patchio_variable(out, "c", NULL, PATCHIO_INT32, 2, PATCHIO_CELLS, NULL), out);
  faults += tell(rank, "d", patchio_variable(out, "d", NULL, PATCHIO_DOUBLE, 1, PATCHIO_CELLS, ghosts[3]), out);
  patchio_patch mine[MOST];
  void* values[VARIABLES * MOST];
  for (int step = 0; step < (argc > 2 ? atoi(argv[2]) : 6); ++step) {
    const int count = patches_of(step, rank, ranks, mine);
    if (step % 2 == 0) {
      faults += tell(rank, "patches", patchio_patches(out, count, mine), out);
    }
    for (int v = 0; v < VARIABLES; ++v)
      for (int p = 0; p < count; ++p)  /* d is on the fine level alone */
        values[v * count + p] = v == 3 && mine[p].level == 0 ? NULL : array_of(v, step, &mine[p]);
    char when[32];
    snprintf(when, sizeof when, "step %d", step);
    faults += tell(rank, when, patchio_write(out, step, 0.5 * step, (const void* const*)values), out);
    for (int i = 0; i < VARIABLES * count; ++i) {
      if (values[i]) {
        memset(values[i], 0xee, TILE);  /* PatchIO must not look at it any more */
      }
      free(values[i]);
    }
    const int pause = argc > 3 ? atoi(argv[3]) : 0;
    const struct timespec wait = {pause / 1000, pause % 1000 * 1000000L};
    nanosleep(&wait, NULL);
  }
  const int closed = patchio_close(out);
  faults += tell(rank, "close", closed, NULL);
  MPI_Finalize();
  return faults ? 1 : 0;
}
