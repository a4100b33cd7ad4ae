#include "Session.h"

#include "Formats/Format.h"

#include <cstdio>

namespace patchio::tools {

std::string PathHelp()
{
  std::string text;
  for (const Format* format : AllFormats()) {
    text += (text.empty() ? "Data: " : "; ") + std::string(format->Opens());
  }
  return text;
}

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

void Session::Warn(const std::string& text) const
{
  if (this->Root() && !text.empty()) {
    std::fprintf(stderr, "warning: %s\n", text.c_str());
  }
}

}  // namespace patchio::tools
