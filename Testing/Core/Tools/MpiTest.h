// Helpers of tests on several ranks: mpiexec -n NP TEST
#pragma once

#include "Base/Communicator.h"

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool CanLimitMemory = false;
#else
constexpr bool CanLimitMemory = true;
#endif

/// Runs `call`. Meanwhile, rank `poor` can allocate at most 16 MiB. Returns the message of the error, or an
/// empty text.
template <typename Call>
std::string FaultWithLittleMemory(int poor, Call call)
{
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  if (Rank == poor) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit little{pages * ::sysconf(_SC_PAGESIZE) + (16 << 20), before.rlim_max};
    ::setrlimit(RLIMIT_AS, &little);
  }
  std::string fault = CatchError(call);
  ::setrlimit(RLIMIT_AS, &before);
  return fault;
}

/// Checks that no rank waits for a rank that has too little memory for a message.
inline void CheckThatAllLackMemory(Communicator& ranks)
{
  if (!CanLimitMemory) {
    return;
  }
  const auto expect = [](int poor, auto call) {
    const std::string fault = FaultWithLittleMemory(poor, call);
    Expect(fault.find("Out of memory") == 0, "instead of a lack of memory on a rank: " + fault);
  };
  const int last = ranks.Size() - 1;
  const std::string large(40 << 20, 'x'), none;
  std::vector<std::string> texts(ranks.Size()), into;
  texts[last] = Rank == 0 ? large : none;
  expect(last, [&] { ranks.AllGather(Rank == 0 ? large : none); });
  expect(last, [&] { ranks.Exchange(texts, into); });
  expect(0, [&] { ranks.Gather(Rank == last ? large : none); });
  ranks.Exchange(texts, into);
  Expect(Rank != last || into[0] == large, "an exchange after a fault");
}

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
