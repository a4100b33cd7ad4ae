// What every subcommand of `patchio` is given: the ranks it runs on.
#pragma once

#include "Support/Communicator.h"
#include "Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace patchio::tools {

/// What was typed makes no sense: exit code 2. Other errors are of data or the system: exit code 1.
class UsageError : public Error
{
public:
  using Error::Error;
};

/// What subcommands that look at a series are told.
struct SeriesArguments
{
  std::string Path;
  std::optional<std::int64_t> Step;  ///< none: all steps
  bool ListedOnly = false;           ///< only steps that the index file lists
  int Threads = 4;                   ///< that look at files, in each rank
};

/// Adds the argument "path" of the data; `orElse`: what it may be instead, for the help.
void AddPath(CLI::App& command, std::string& path, const std::string& orElse = {});
/// Adds all of them. `unlessGiven` says, for the help, which steps are meant without --step.
void AddSeriesArguments(
    CLI::App& command, SeriesArguments& arguments, const std::string& unlessGiven = "all steps");

/// MPI from construction to destruction. One an executable.
class Session
{
public:
  Session(int* argc, char*** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Communicator& Ranks() const { return *this->World; }
  MPI_Comm Mpi() const { return MPI_COMM_WORLD; }
  bool Root() const { return this->World->Rank() == 0; }

  /// Collective: runs `work` on rank 0. Throws on all ranks what that throws.
  void OnRoot(const std::function<void()>& work) const;

  /// One line on standard output, from rank 0.
  void Print(const std::string& line) const;
  /// Whether all that was printed, by whatever means, has arrived.
  bool AllPrinted() const;
  /// "warning: ..." on standard error, from rank 0; nothing where the text is empty.
  void Warn(const std::string& text) const;

private:
  std::unique_ptr<Communicator> World;
};

}  // namespace patchio::tools
