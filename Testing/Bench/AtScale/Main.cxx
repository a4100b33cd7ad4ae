// Simulates PatchIO on more ranks than the machine has: runs its plans, thread rules and collective calls for
// rank 0 or for all ranks of a given number. Storages and other ranks are simulated. Prints one JSON object.
#include "Commands.h"

#include <mpi.h>
#include <cstdio>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    CLI::App program("PatchIO with many ranks, simulated", "patchio_bench_at_scale");
    program.require_subcommand(1);
    const auto answer = [](const nlohmann::json& found) { std::printf("%s\n", found.dump().c_str()); };
    patchio::atscale::AddReading(program, answer);
    patchio::atscale::AddWriting(program, answer);
    patchio::atscale::AddPlanning(program, answer);
    patchio::atscale::AddAgreeing(program, answer);
    try {
      program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      status = program.exit(error);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio_bench_at_scale: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
