/* Output of simulations in C, C++ and Fortran. A simulation declares its grid, patches and variables once,
 * and makes one call per step.
 *
 * A JSON configuration, which the users of the simulation write, selects the variables, the steps, the
 * format, and whether the simulation waits for the storage. Documentation/Guide/Output.md describes the
 * configuration.
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
 * Functions return 0, or 1 after an error, which patchio_error() describes. Functions never end the program.
 *
 * "Collective" means: all compute ranks call the function, in the same order. If a rank does not make a
 * collective call within the "wait seconds" of the configuration, the call returns 1 on all other ranks, and
 * the error names the missing rank. From then on, collective calls return 1 immediately; only patchio_close()
 * first waits for steps of its own rank.
 *
 * One thread makes all calls. This thread must be allowed to call MPI; MPI_THREAD_SINGLE is sufficient. */
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

/* An output, from patchio_open() to patchio_close(). */
typedef struct patchio_output patchio_output;

/* Type of the values in memory. */
enum patchio_type
{
  PATCHIO_FLOAT = 0,
  PATCHIO_DOUBLE = 1,
  PATCHIO_INT32 = 2,
  PATCHIO_INT64 = 3
};

/* Position of the values of a variable: one value per cell, or one value per node. Along each axis, a patch
 * has one node more than cells. */
enum patchio_place
{
  PATCHIO_CELLS = 0,
  PATCHIO_NODES = 1
};

/* A box of cells of a level. Cell numbers may start at any number. If a level is refined by r, cell i of the
 * coarser level covers the cells r i to r i + r - 1. On axes that the grid lacks, lower and upper are 0. */
typedef struct patchio_patch
{
  int32_t level;    /* level number; 0 is the coarsest level */
  int32_t lower[3]; /* first cell along each axis */
  int32_t upper[3]; /* last cell along each axis */
} patchio_patch;

/* Opens the output. Collective: all ranks of the communicator call it.
 * configuration: path of a file, or a JSON text that begins with '{'; the same on all ranks.
 * communicator: must exist until patchio_close().
 * Returns NULL on all ranks if the configuration is wrong or differs between ranks, a file cannot be read, a
 * path is not writable, or the ranks are too few or cannot reach each other. patchio_error(NULL) then returns
 * the message. */
patchio_output* patchio_open(const char* configuration, MPI_Comm communicator);

/* Separates compute and I/O ranks. Collective: all ranks of the communicator call it directly after
 * patchio_open(). A simulation divides its work over the ranks of the communicator `compute`. The call is
 * needed if a configuration may have the mode "ranks":
 * - On compute ranks, the call returns immediately, and `compute` becomes the communicator of the compute
 *   ranks, which call all functions below. patchio_close() frees this communicator.
 * - On I/O ranks, the call returns at the end of the run, when the compute ranks have called patchio_close(),
 *   and `compute` becomes MPI_COMM_NULL. I/O ranks then call patchio_close(), and no other function.
 *
 * In other modes, all ranks are compute ranks, and `compute` becomes the communicator of patchio_open().
 * After an error, `compute` is MPI_COMM_NULL. */
int patchio_compute(patchio_output* output, MPI_Comm* compute);

/* Declares the grid, the same on all ranks. If the grid changes, call patchio_grid() again, and then
 * patchio_patches().
 * dimension: 2 or 3.
 * origin, spacing: three numbers each, the position of the lower corner of cell (0, 0, 0) and the size of the
 * cells of level 0.
 * levels: maximum number of levels, at least 1.
 * ratios: 3 x levels numbers, the refinement ratios of each level to the next coarser level along each axis;
 * the ratios of level 0 are ignored. NULL if there is one level. */
int patchio_grid(patchio_output* output, int dimension, const double* origin, const double* spacing,
    int levels, const int32_t* ratios);

/* Declares this rank's patches, which replace the patches of earlier calls. Call patchio_patches() again
 * after each regridding. Patches of a level must not overlap. At least one rank must have patches.
 * Collective. After a failed call of patchio_grid() or patchio_patches(), PatchIO writes no step, and
 * patchio_write() returns 1 at steps in a window, until the same function succeeds. */
int patchio_patches(patchio_output* output, int count, const patchio_patch* patches);

/* Declares a variable, the same on all ranks. Variables are numbered 0, 1, ... in the order of these calls.
 * description: a text for people, such as the unit; may be NULL.
 * components: at least 1; the components of a value are adjacent in memory.
 * ghosts: three numbers, the ghost layers of the arrays on both sides of each axis of the grid, which are
 * not written. NULL: no ghost layers.
 * After a failed call, PatchIO writes no further step, and patchio_write() returns 1 at steps in a window. */
int patchio_variable(patchio_output* output, const char* name, const char* description,
    enum patchio_type type, int components, enum patchio_place place, const int32_t* ghosts);

/* Writes a step.
 * step: 0 or more, each number once, in any order; in increasing order if a channel has the format grads or
 * kwave. time: finite.
 * values: values[v * count + p] is the array of variable v on this rank's patch p, in the order of the last
 * patchio_patches(), axis 0 fastest; NULL if the patch lacks the variable. PatchIO does not keep the
 * pointers: the arrays may change when the call has returned.
 *
 * Collective at steps in a window of the configuration; at other steps, the call returns immediately. Returns
 * 1 if this step could not be written, or an earlier step whose error no call has returned yet; PatchIO still
 * tries to write later steps. Ranks may get an error at different steps, so a rank must not stop on its own.
 */
int patchio_write(patchio_output* output, int64_t step, double time, const void* const* values);

/* Waits until all steps are on the storage. Returns 1 if steps could not be written whose errors no call has
 * returned yet. Collective. */
int patchio_flush(patchio_output* output);

/* Waits like patchio_flush(), and ends the output, even if the result is 1; patchio_error(NULL) then returns
 * the message. A NULL output is ignored. Collective. Call patchio_close() before MPI_Finalize(), which
 * completes outputs that are still open, but can report errors only on the standard error stream. Later calls
 * with the output return 1. */
int patchio_close(patchio_output* output);

/* Returns the message of the last call that returned 1, one line per error, or "" if no call has returned 1.
 * output: NULL for the message of patchio_open() or patchio_close(). The text is valid until the next call.
 */
const char* patchio_error(const patchio_output* output);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
