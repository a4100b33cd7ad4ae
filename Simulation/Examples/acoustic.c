/* A small acoustic simulation: spherical waves of pressure travel outwards from the middle of a grid, which is
 * divided over the ranks in three directions. A channel of the format kwave samples the waves:
 * {"channels": [{"path": "out.h5", "format": "kwave", "windows": [{"last": 99}],
 *   "cuboids": [{"lower": [0, 0, 16], "upper": [63, 47, 16]}]}]}
 * Run as: mpirun -np 4 acoustic output.json [steps]
 * Built with: mpicc acoustic.c $(pkg-config --cflags --libs patchio) -lm */
#include <math.h>
#include <patchio.h>
#include <stdio.h>
#include <stdlib.h>

enum { GHOSTS = 2 };

static const int cells[3] = {64, 48, 32};

/* Computes the pressure and the velocity along x of the waves in a cell at a step. */
static void wave(const int* cell, int step, double* p, float* ux)
{
  const double x = cell[0] - 32, y = cell[1] - 24, z = cell[2] - 16, r = sqrt(x * x + y * y + z * z);
  *p = cos(0.5 * r - 0.3 * step) / (1 + r);
  *ux = (float)(*p * x / (1 + r));
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, parts[3] = {0, 0, 0}, place[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, parts);
  place[0] = rank % parts[0], place[1] = rank / parts[0] % parts[1], place[2] = rank / parts[0] / parts[1];
  patchio_patch mine = {0, {0, 0, 0}, {0, 0, 0}};
  size_t n[3];
  for (int axis = 0; axis < 3; ++axis) {
    mine.lower[axis] = cells[axis] * place[axis] / parts[axis];
    mine.upper[axis] = cells[axis] * (place[axis] + 1) / parts[axis] - 1;
    n[axis] = mine.upper[axis] - mine.lower[axis] + 1;
  }
  double* p = calloc((n[0] + 2 * GHOSTS) * (n[1] + 2 * GHOSTS) * (n[2] + 2 * GHOSTS), sizeof *p);
  float* ux = calloc(n[0] * n[1] * n[2], sizeof *ux);

  patchio_output* out = patchio_open(argc > 1 ? argv[1] : "output.json", MPI_COMM_WORLD);
  if (!out) {
    if (rank == 0) {
      fprintf(stderr, "%s\n", patchio_error(NULL));
    }
    MPI_Finalize();
    return 1;
  }
  const double origin[3] = {0, 0, 0}, spacing[3] = {1e-4, 1e-4, 1e-4}, dt = 2e-8;
  const int32_t ghosts[3] = {GHOSTS, GHOSTS, GHOSTS};
  int faults = patchio_grid(out, 3, origin, spacing, 1, NULL);
  faults += patchio_patches(out, 1, &mine);
  faults += patchio_variable(out, "p", "pressure in Pa", PATCHIO_DOUBLE, 1, PATCHIO_CELLS, ghosts);
  faults += patchio_variable(out, "ux", "velocity along x in m/s", PATCHIO_FLOAT, 1, PATCHIO_CELLS, NULL);
  for (int step = 0; step < (argc > 2 ? atoi(argv[2]) : 100); ++step) {
    size_t at = 0;
    for (int k = 0; k < (int)n[2]; ++k)
      for (int j = 0; j < (int)n[1]; ++j)
        for (int i = 0; i < (int)n[0]; ++i, ++at) {
          const int cell[3] = {mine.lower[0] + i, mine.lower[1] + j, mine.lower[2] + k};
          wave(cell, step, &p[((k + GHOSTS) * (n[1] + 2 * GHOSTS) + j + GHOSTS) * (n[0] + 2 * GHOSTS) + i + GHOSTS], &ux[at]);
        }
    const void* values[] = {p, ux};
    faults += patchio_write(out, step, dt * step, values);
  }
  if (faults && rank == 0) {
    fprintf(stderr, "%s\n", patchio_error(out));
  }
  if (patchio_close(out) && rank == 0) {
    fprintf(stderr, "%s\n", patchio_error(NULL));
    faults = 1;
  }
  free(p);
  free(ux);
  MPI_Finalize();
  return faults != 0;
}
