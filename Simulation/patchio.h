/* PatchIO for simulations in C, C++ and Fortran: what a run declares once, and one call a step.
 *
 * A configuration in JSON, which users of the simulation write, says what becomes of the steps: which
 * variables, at which steps, in which format, and whether the simulation waits for the storage. It is
 * described in Documentation/Output.md.
 *
 *     patchio_output* out = patchio_open("output.json", MPI_COMM_WORLD);
 *     patchio_compute(out, &compute);
 *     patchio_grid(out, 3, origin, spacing, 1, NULL);
 *     patchio_patches(out, 1, &mine);
 *     patchio_variable(out, "density", "kg/m3", PATCHIO_DOUBLE, 1, PATCHIO_CELLS, NULL);
 *     for (...)
 *       if (patchio_write(out, step, time, values) != 0)
 *         fprintf(stderr, "%s\n", patchio_error(out));
 *     patchio_close(out);
 *
 * Functions return 0, or 1 when something went wrong: patchio_error() says what. The program is never ended.
 * Functions marked collective are called by all ranks that compute, in the same order. They do not wait without
 * end for a rank that does not come: after the configuration's "wait seconds" they return 1 and say which rank is
 * missing, and from then on all calls return 1 at once. All are called by one thread, which may be any thread
 * that may call MPI; MPI_THREAD_SINGLE is enough. */
#ifndef PATCHIO_H
#define PATCHIO_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct patchio_output patchio_output;

/* The type of a number in memory. */
enum patchio_type
{
  PATCHIO_FLOAT = 0,
  PATCHIO_DOUBLE = 1,
  PATCHIO_INT32 = 2,
  PATCHIO_INT64 = 3
};

/* Where the values of a variable lie: one a cell, or one a node (one more along each axis). */
enum patchio_place
{
  PATCHIO_CELLS = 0,
  PATCHIO_NODES = 1
};

/* A box of cells of a level. Cells are counted from any number; those of a level that is r times as fine have
 * r times the numbers. On axes that the grid lacks both are 0. */
typedef struct patchio_patch
{
  int32_t level;    /* 0: the coarsest */
  int32_t lower[3]; /* the first cell along each axis */
  int32_t upper[3]; /* the last one */
} patchio_patch;

/* Collective over all ranks of the communicator. configuration: the path of a file, or a JSON text that
 * begins with '{'; the same on all ranks. The communicator must live until patchio_close(). NULL on all ranks
 * when the configuration is wrong, a file cannot be read, or the ranks cannot reach each other:
 * patchio_error(NULL) says why. */
patchio_output* patchio_open(const char* configuration, MPI_Comm communicator);

/* Collective over the communicator of patchio_open(), right after it: which ranks compute. A simulation
 * divides its work over the ranks of the communicator that it gets. It must call this where a configuration
 * may have the mode "ranks"; then the configuration sets I/O ranks apart:
 * - ranks that compute get the communicator of their kind at once, and call all functions below. PatchIO
 * frees it in patchio_close().
 * - on I/O ranks it returns at the end of the run, when those that compute have called patchio_close(), and
 *   gives MPI_COMM_NULL. They call patchio_close(), and nothing else of PatchIO.
 * In other modes all ranks compute and get the communicator of patchio_open(). */
int patchio_compute(patchio_output* output, MPI_Comm* compute);

/* The grid, the same on all ranks; may be called again when it changes, and patches must follow then.
 * dimension: 2 or 3. origin, spacing: three numbers each, the position of the corner of cell (0, 0, 0) and
 * the size of cells of level 0. levels: at least 1, the most that there may be. ratios: 3 x levels numbers,
 * cells of each level in one of the level before along each axis, those of level 0 being of no meaning; NULL
 * for one level alone. */
int patchio_grid(patchio_output* output, int dimension, const double* origin, const double* spacing,
    int levels, const int32_t* ratios);

/* Collective. This rank's patches, which replace those declared before: a simulation that regrids calls this
 * again. A rank may have none, not all of them. Patches of a level must not overlap. */
int patchio_patches(patchio_output* output, int count, const patchio_patch* patches);

/* A variable, the same on all ranks. Variables have the numbers 0, 1, ... in the order of these calls.
 * description: what it is and its unit, for people; may be NULL. components: at least 1, side by side in
 * memory. ghosts: three numbers, the layers that arrays have around the cells (or nodes) of their patches on
 * both sides of each axis of the grid, which are not written; NULL: none. */
int patchio_variable(patchio_output* output, const char* name, const char* description,
    enum patchio_type type, int components, enum patchio_place place, const int32_t* ghosts);

/* A step. values: for variable v and this rank's patch p (in the order of the last patchio_patches()),
 * values[v * count + p] is the array, axis 0 fastest; NULL where the patch does not have the variable.
 * PatchIO does not keep the pointers: arrays may change as soon as this returns.
 *
 * Collective at steps that a window of the configuration names; at others it returns at once. Steps are
 * counted from 0, in any order, each once; times are finite. 1 tells of any step so far that could not be
 * written, also of earlier ones: the later ones are tried all the same. Ranks may be told at different steps,
 * so none may stop by itself. */
int patchio_write(patchio_output* output, int64_t step, double time, const void* const* values);

/* Collective. Returns when all steps are on the storage, or says which are not. */
int patchio_flush(patchio_output* output);

/* Collective. patchio_flush(), and the end of the output, also when that returns 1; then
 * patchio_error(NULL) says why. NULL does nothing. To be called before MPI_Finalize(), which writes what was
 * not closed, and can say what went wrong on the standard error stream alone. */
int patchio_close(patchio_output* output);

/* What went wrong in the last call that returned 1; NULL: in the last one without an output, or
 * patchio_close().
 * English, one line a fault; "" when nothing ever did. Valid until the next call. */
const char* patchio_error(const patchio_output* output);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
