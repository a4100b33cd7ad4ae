// What every subcommand of `patchio` is given: the ranks it runs on.
#pragma once

#include "Support/Communicator.h"
#include "Support/Error.h"

#include <memory>
#include <string>

namespace patchio::tools {

/// What was typed makes no sense: exit code 2. Other errors are of data or the system: exit code 1.
class UsageError : public Error
{
public:
  using Error::Error;
};

/// What a command can be given as data, for its help: the files of all formats.
std::string PathHelp();

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

  /// One line on standard output, from rank 0.
  void Print(const std::string& line) const;
  /// "warning: ..." on standard error, from rank 0; nothing where the text is empty.
  void Warn(const std::string& text) const;

private:
  std::unique_ptr<Communicator> World;
};

}  // namespace patchio::tools
