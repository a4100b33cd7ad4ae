#include "Driver.h"

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

std::unique_ptr<patchio::Communicator> AllRanks;  ///< null before MPI is started

}  // namespace

patchio::Communicator& patchio::bench::Ranks()
{
  if (!AllRanks) {
    MPI_Init(nullptr, nullptr);
    AllRanks = MakeMpiCommunicator(MPI_COMM_WORLD);
  }
  return *AllRanks;
}

int main(int argc, char** argv)
{
  CLI::App program;
  int status = 0;
  try {
    const patchio::bench::Measurement measurement = patchio::bench::Describe(program);
    program.parse(argc, argv);
    const nlohmann::json found = measurement();
    if (!found.is_null() && (!AllRanks || AllRanks->Rank() == 0)) {
      std::puts(found.dump().c_str());
    }
  } catch (const CLI::ParseError& error) {
    status = program.exit(error);
  } catch (const std::exception& error) {
    const std::string name = std::filesystem::path(argv[0]).filename().string();
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    status = 1;
  }
  if (AllRanks) {
    AllRanks.reset();
    MPI_Finalize();
  }
  return status;
}
