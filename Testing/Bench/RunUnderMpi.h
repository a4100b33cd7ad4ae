// The main function of measuring programs that run under mpirun.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>

/// Gives the exit code of `run`; when it throws, says why in the name of `program` and gives 1.
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
