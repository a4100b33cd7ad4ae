#include "Session.h"

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/Format.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace patchio::tools {
namespace {

/// Returns an empty text if `text` is a whole number of 64 bits, otherwise an error. CLI11 itself would
/// replace a number that is too large by the largest one.
std::string CheckStep(const std::string& text)
{
  return ParseNumber<std::int64_t>(text) ? "" : "expected a step number, found " + text;
}

}  // namespace

void AddPath(CLI::App& command, std::string& path, const std::string& orElse)
{
  std::string text;
  for (const Format* format : AllFormats()) {
    text += (text.empty() ? "Data: " : "; ") + std::string(format->SupportedFiles());
  }
  command.add_option("path", path, text + orElse)->required()->transform([](const std::string& given) {
    return NormalizedPath(given);
  });
}

void AddSeriesArguments(CLI::App& command, SeriesArguments& arguments, const std::string& defaultSteps)
{
  AddPath(command, arguments.Path);
  command
      .add_option("--step", arguments.Step, "Only the time step with this number; default: " + defaultSteps)
      ->check(CheckStep);
  command.add_flag("--listed-only", arguments.ListedOnly,
      "Only time steps that dumps.visit lists, or only the given plotfile");
  command.add_option("--threads", arguments.Threads, "Number of threads per rank that inspect files")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
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

void Session::OnRoot(const std::function<void()>& work) const
{
  RunOnRankZero(this->Ranks(), work);
}

void Session::Print(const std::string& line) const
{
  if (this->IsRoot()) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

bool Session::AllPrinted() const
{
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

void Session::Warn(const std::string& text) const
{
  if (this->IsRoot() && !text.empty()) {
    std::fprintf(stderr, "warning: %s\n", text.c_str());
  }
}

}  // namespace patchio::tools
