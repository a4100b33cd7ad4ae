/* A small regional model: a wind carries a temperature through a grid of 50 layers, which is divided over the
 * ranks in two directions. Run as: mpirun -np 4 regional output.json [steps]
 * Built with: mpicc regional.c $(pkg-config --cflags --libs patchio) -lm */
#include <math.h>
#include <patchio.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 120, NY = 80, NZ = 50, GHOSTS = 1 };

static double temperature(double x, double y, double z, double time)
{
  return 300 - 0.6 * z + 10 * sin(0.1 * (x - 2 * time)) * cos(0.1 * y);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, parts[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  patchio_output* out = patchio_open(argc > 1 ? argv[1] : "output.json", MPI_COMM_WORLD);
  if (!out) {
    if (rank == 0) {
      fprintf(stderr, "%s\n", patchio_error(NULL));
    }
    MPI_Finalize();
    return 1;
  }
  MPI_Comm compute; /* the compute ranks: all ranks, or all except the I/O ranks of the mode "ranks" */
  int faults = patchio_compute(out, &compute);
  if (compute == MPI_COMM_NULL) {
    fprintf(stderr, "%s", patchio_error(out));
    faults += patchio_close(out);
    MPI_Finalize();
    return faults != 0;
  }
  MPI_Comm_rank(compute, &rank);
  MPI_Comm_size(compute, &ranks);
  MPI_Dims_create(ranks, 2, parts);
  const int i = rank % parts[0], j = rank / parts[0], steps = argc > 2 ? atoi(argv[2]) : 24;
  const patchio_patch mine = {0, {NX * i / parts[0], NY * j / parts[1], 0},
      {NX * (i + 1) / parts[0] - 1, NY * (j + 1) / parts[1] - 1, NZ - 1}};
  const int nx = mine.upper[0] - mine.lower[0] + 1 + 2 * GHOSTS, ny = mine.upper[1] - mine.lower[1] + 1 + 2 * GHOSTS;
  double* field = calloc((size_t)nx * ny * NZ, sizeof *field);

  const double origin[3] = {0, 0, 0}, spacing[3] = {1000, 1000, 200};
  const int32_t ghosts[3] = {GHOSTS, GHOSTS, 0};
  faults += patchio_grid(out, 3, origin, spacing, 1, NULL);
  faults += patchio_patches(out, 1, &mine);
  faults += patchio_variable(out, "temperature", "temperature in K", PATCHIO_DOUBLE, 1, PATCHIO_CELLS, ghosts);
  for (int step = 0; step < steps; ++step) {  /* continues after errors, because ranks may get them at different steps */
    for (int z = 0, at = 0; z < NZ; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x, ++at)
          field[at] = temperature(mine.lower[0] + x - GHOSTS, mine.lower[1] + y - GHOSTS, z, step);
    const void* values[] = {field};
    faults += patchio_write(out, step, 60.0 * step, values);
  }
  if (faults && rank == 0) {
    fprintf(stderr, "%s\n", patchio_error(out));
  }
  if (patchio_close(out) && rank == 0) {
    fprintf(stderr, "%s\n", patchio_error(NULL));
    faults = 1;
  }
  free(field);
  MPI_Finalize();
  return faults != 0;
}
