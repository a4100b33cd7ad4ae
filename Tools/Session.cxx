#include "Session.h"

#include "Support/Error.h"

#include <cstdio>
#include <exception>

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

void Session::Together(const std::function<void()>& work) const
{
  std::string fault;
  try {
    work();
  } catch (const std::bad_alloc&) {
    fault = "Out of memory. Use a smaller problem or more ranks on more nodes.";
  } catch (const std::exception& error) {
    fault = error.what();
  }
  for (const std::string& text : this->World->AllGather(fault)) {
    if (!text.empty()) {
      throw Error(text);
    }
  }
}

void Session::Print(const std::string& line) const
{
  if (this->Root()) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

}  // namespace patchio::tools
