#include "Session.h"

#include <cstdio>

namespace patchio::tools {

Session::Session(int* argc, char*** argv)
{
  MPI_Init(argc, argv);
  this->World = MakeMpiCommunicator(MPI_COMM_WORLD);
}

Session::~Session()
{
  MPI_Finalize();
}

void Session::Print(const std::string& line) const
{
  if (this->Root()) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

}  // namespace patchio::tools
