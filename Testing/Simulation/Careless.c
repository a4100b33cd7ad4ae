/* A simulation that makes each call with wrong arguments, prints the messages, and does not call
 * patchio_close().
 * usage: Careless CONFIGURATION STEPS */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <patchio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void told(const patchio_output* out, int fault)
{
  printf("rank %d: %s\n", rank, fault ? patchio_error(out) : "no fault");
}

int main(int argc, char** argv)
{
  if (patchio_open("{}", MPI_COMM_WORLD) || !strstr(patchio_error(NULL), "Call MPI_Init() first")) {
    printf("patchio_open() before MPI_Init() says: %s\n", patchio_error(NULL));
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1}, wrong[3] = {1, -1, 1};
  const patchio_patch mine = {0, {4 * rank, 0, 0}, {4 * rank + 3, 3, 3}};
  double array[64];
  feenableexcept(FE_INVALID | FE_OVERFLOW); /* as simulations do; values may be no numbers all the same */
  const float odd[125] = {
      NAN}; /* so that the next array in PatchIO's copy of the step must not follow at once */
  const void* values[2] = {odd, array};
  told(NULL, patchio_open(NULL, MPI_COMM_WORLD) == NULL);
  told(NULL, patchio_open("{}", MPI_COMM_NULL) == NULL);
  told(NULL, patchio_write(NULL, 0, 0, values));
  MPI_Comm compute = MPI_COMM_WORLD;
  told(NULL, patchio_compute(NULL, &compute) && compute == MPI_COMM_NULL);
  patchio_output* out = patchio_open(argc > 1 ? argv[1] : "{}", MPI_COMM_WORLD);
  if (!out) {
    told(NULL, 1);
    MPI_Finalize();
    return 2;
  }
  const int32_t ratios[6] = {1, 1, 1, 2, 0, 2}, layers[3] = {0, -1, 0};
  told(out, patchio_compute(out, NULL));
  told(out, patchio_write(out, 0, 0, NULL));
  told(out, patchio_patches(out, 1, &mine)); /* before the grid */
  told(out, patchio_grid(out, 3, NULL, spacing, 1, NULL));
  told(out, patchio_grid(out, 3, origin, wrong, 1, NULL));
  told(out, patchio_grid(out, 4, origin, spacing, 1, NULL));
  told(out, patchio_grid(out, 3, origin, spacing, 2, NULL));
  told(out, patchio_grid(out, 3, origin, spacing, 0, NULL));
  told(out, patchio_grid(out, 3, origin, spacing, 2, ratios));
  told(out, patchio_grid(out, 3, origin, spacing, 1, NULL));
  told(out, patchio_patches(out, 1, rank == 0 ? NULL : &mine)); /* on one rank alone */
  told(out, patchio_patches(out, 0, NULL));
  told(out, patchio_patches(out, 1, &mine));
  told(out, patchio_write(out, 0, 0, values)); /* without variables */
  told(out, patchio_variable(out, "f", NULL, PATCHIO_FLOAT, 1, PATCHIO_NODES, NULL));
  told(out, patchio_variable(out, "a", NULL, PATCHIO_DOUBLE, 1, PATCHIO_CELLS, NULL));
  told(out, patchio_write(out, 0, 0, rank == 0 ? NULL : values));
  told(out, patchio_write(out, -1, 0, values));
  told(out, patchio_write(out, 0, rank == 0 ? NAN : 0, values));
  told(out, patchio_write(out, 0, rank, values));
  for (int step = 0; step < (argc > 2 ? atoi(argv[2]) : 5); ++step) {
    for (int i = 0; i < 64; ++i) {
      array[i] = 1000 * step + 100 * rank + i;
    }
    told(out, patchio_write(out, step, step, values));
  }
  told(out, patchio_patches(out, -1, NULL)); /* of a new grid */
  told(out, patchio_write(out, 7, 0, values));
  told(out, patchio_patches(out, 1, &mine));
  told(out, patchio_variable(out, "g", NULL, PATCHIO_DOUBLE, 0, PATCHIO_CELLS, NULL));
  told(out, patchio_variable(out, "g", NULL, PATCHIO_DOUBLE, 1, PATCHIO_CELLS, layers));
  told(out, patchio_variable(out, "g", NULL, (enum patchio_type)9, 1, PATCHIO_CELLS, NULL));
  told(out, patchio_variable(out, NULL, NULL, PATCHIO_DOUBLE, 1, PATCHIO_CELLS, NULL));
  told(out, patchio_write(out, 8, 0, values));
  patchio_output* twice = patchio_open("{\"channels\": [{\"path\": \"twice.pio\"}]}", MPI_COMM_SELF);
  told(NULL, patchio_close(twice));
  told(NULL, patchio_close(twice));
  told(twice, patchio_flush(twice));
  MPI_Finalize();
  told(NULL, patchio_open("{}", MPI_COMM_SELF) == NULL);
  return 0;
}
