// Helpers of tests on several ranks: mpiexec -n NP TEST
#pragma once

#include "Base/Communicator.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace patchio::testing {

inline int Rank = 0, Ranks = 1;
inline int Failures = 0;  ///< failed checks of this rank

inline void Expect(bool holds, const std::string& what)
{
  if (!holds) {
    std::printf("FAILED on rank %d: %s\n", Rank, what.c_str());
    std::fflush(stdout);
    ++Failures;
  }
}

/// Collective: expects that `mine` is equal on all ranks.
inline void ExpectAlike(Communicator& ranks, bool mine, const std::string& what)
{
  for (const int other : ranks.AllGather(std::vector<int>{mine ? 1 : 0})) {
    Expect(other == (mine ? 1 : 0), what + ": ranks do not agree");
  }
}

/// A temporary folder of all ranks. Constructor and destructor are collective; rank 0 removes the folder.
class SharedFolder
{
public:
  SharedFolder()
  {
    char name[512] = "";
    if (Rank == 0) {
      std::snprintf(
          name, sizeof(name), "%s/patchio_test_XXXXXX", std::filesystem::temp_directory_path().c_str());
      if (!::mkdtemp(name)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    this->Name = name;
  }
  ~SharedFolder()
  {
    MPI_Barrier(MPI_COMM_WORLD);
    if (Rank == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(this->Name, ignored);
    }
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  const std::string& Path() const { return this->Name; }

private:
  std::string Name;
};

/// The main program: runs checks(ranks), and prints `success` if all checks hold on all ranks. Returns the
/// exit status.
template <typename Checks>
int RunOnRanks(int argc, char** argv, const char* success, Checks checks)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &Rank);
  MPI_Comm_size(MPI_COMM_WORLD, &Ranks);
  checks(*MakeMpiCommunicator(MPI_COMM_WORLD));
  MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (Rank == 0 && Failures == 0) {
    std::printf("%s\n", success);
  }
  return Failures == 0 ? 0 : 1;
}

}  // namespace patchio::testing
