// Ranks that are joined by sockets: mpiexec -n NP patchio_socket_communicator_mpi_test
//
// The results must equal those of MPI. Also tests the lack of memory with BoundedCommunicator. A rank that
// waits forever shows as the time limit.
#include "Write/SocketCommunicator.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "MpiTest.h"
#include "Write/BoundedCommunicator.h"

#include <memory>
#include <random>
#include <string>
#include <thread>

namespace patchio::output {
namespace {

using testing::Expect;
using testing::Rank;

void CheckThatBothTellTheSame(Communicator& mpi, Communicator& sockets)
{
  Expect(sockets.Rank() == mpi.Rank() && sockets.Size() == mpi.Size(), "other ranks");
  Expect(sockets.Mpi() == MPI_COMM_NULL, "MPI where there is none");
  std::mt19937 random(Rank);
  for (const std::size_t most : {0, 1, 100, 100'000, 5'000'000}) {
    std::string mine(most > 0 ? random() % (most + 1) : 0, '\0');
    for (char& letter : mine) {
      letter = static_cast<char>(random());
    }
    Expect(sockets.AllGather(mine) == mpi.AllGather(mine), "AllGather of texts");
    Expect(sockets.Gather(mine) == mpi.Gather(mine), "Gather");
    std::vector<std::byte> bytes(Rank == 0 ? most : 3, std::byte(most));
    sockets.Broadcast(bytes);
    Expect(bytes == std::vector<std::byte>(most, std::byte(most)), "Broadcast");
    std::vector<std::string> texts(mpi.Size());  // long, short or empty texts
    for (std::string& text : texts) {
      text = mine.substr(0, random() % 3 * mine.size() / 2);
    }
    Expect(sockets.Exchange(texts) == mpi.Exchange(texts), "Exchange");
  }
  const std::vector<double> doubles{1.5 * Rank, 2};
  Expect(sockets.AllGather(doubles) == mpi.AllGather(doubles), "AllGather of doubles");
  const std::vector<int> ints(Rank, Rank);
  Expect(sockets.AllGather(ints) == mpi.AllGather(ints), "AllGather of integers");
  const double others = mpi.Size() - 1;
  for (Communicator* ranks : {&mpi, &sockets}) {
    Expect(ranks->Max({double(Rank), double(-Rank)}) == std::vector<double>{others, 0}, "Largest");
    Expect(
        ranks->Sum({1, double(Rank)}) == std::vector<double>{others + 1, others * (others + 1) / 2}, "Sum");
  }
}

/// The last rank disconnects. All others get an error, and no later call waits.
void CheckThatAnEndIsNoticed(Communicator& mpi)
{
  std::unique_ptr<Communicator> sockets = MakeSocketCommunicator(mpi, 60);
  if (Rank == mpi.Size() - 1) {
    sockets.reset();
    return;
  }
  for (int call = 0; call < 3; ++call) {
    const std::string fault = CatchError([&] { sockets->AllGather(std::string("here")); });
    Expect(fault.find("which has stopped") != std::string::npos, "an end that is not noticed: " + fault);
  }
}

/// One rank is late. The waiting ranks report this, and the late rank gets an error, too.
void CheckThatWaitsEnd(Communicator& mpi)
{
  const std::unique_ptr<Communicator> sockets = MakeSocketCommunicator(mpi, 1);
  const bool late = Rank == mpi.Size() - 1;
  if (late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  }
  const std::string fault = CatchError([&] { sockets->AllGather(std::string("here")); });
  Expect(fault.find("waited") != std::string::npos, "a wait without an end: " + fault);
  const std::string whom = "Rank 0 waited 1 s for rank " + std::to_string(mpi.Size() - 1);
  Expect(Rank != 0 || fault.find(whom) != std::string::npos, "other ranks than those: " + fault);
}

/// The last rank has too little memory for a text, and stops. Otherwise, its next call would take the text
/// for the length of the next text.
void CheckThatALackOfMemoryIsNoticed(Communicator& mpi)
{
  const std::unique_ptr<Communicator> sockets = MakeSocketCommunicator(mpi, 60);
  const std::string large(80 << 20, 'x'), none;  // more than the C library reserves for a thread
  const std::string fault =
      testing::FaultWithLittleMemory(mpi.Size() - 1, [&] { sockets->AllGather(Rank == 0 ? large : none); });
  const std::string later = CatchError([&] { sockets->AllGather(none); });
  Expect(!later.empty(), "a rank without memory that is not noticed");
  if (Rank == mpi.Size() - 1) {
    Expect(fault.find("Out of memory") == 0 && later == fault, "other faults: " + fault + "; " + later);
  }
}

void Run(Communicator& mpi)
{
  BoundedCommunicator bounded(MPI_COMM_WORLD, 60, "the test");
  testing::CheckThatAllLackMemory(bounded);
  CheckThatBothTellTheSame(mpi, *MakeSocketCommunicator(mpi, 60));
  const std::unique_ptr<Communicator> first = MakeSocketCommunicator(mpi, 60);
  const std::unique_ptr<Communicator> second = MakeSocketCommunicator(mpi, 60);
  std::thread beside([&] {
    for (int i = 0; i < 100; ++i) {
      Expect(
          second->AllGather(std::vector<int>{i}) == std::vector<int>(mpi.Size(), i), "beside another thread");
    }
  });
  for (int i = 0; i < 100; ++i) {
    Expect(first->AllGather(std::vector<int>{-i}) == std::vector<int>(mpi.Size(), -i), "in two threads");
  }
  beside.join();
  if (mpi.Size() > 1) {
    CheckThatAnEndIsNoticed(mpi);
    CheckThatWaitsEnd(mpi);
    if (testing::CanLimitMemory) {
      CheckThatALackOfMemoryIsNoticed(mpi);
    }
  }
}

}  // namespace
}  // namespace patchio::output

int main(int argc, char** argv)
{
  return patchio::testing::RunOnRanks(argc, argv, "sockets tell what MPI tells", patchio::output::Run);
}
