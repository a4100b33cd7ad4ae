// The main function of measuring programs that run under mpirun.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>

/// Runs `run` and returns its exit code. If `run` throws, prints the error with the name `program` and
/// returns 1.
inline int RunUnderMpi(int argc, char** argv, const char* program, int (*run)(int, char**))
{
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    result = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  }
  MPI_Finalize();
  return result;
}
