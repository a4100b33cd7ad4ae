// Facilities that all subcommands of `patchio` share: the ranks, the output, and arguments for data.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace patchio::tools {

/// An error in the command line. The program ends with exit code 2; after other errors, with exit code 1.
class UsageError : public Error
{
public:
  using Error::Error;
};

/// The arguments of subcommands that read a series.
struct SeriesArguments
{
  std::string Path;
  std::optional<std::int64_t> Step;  ///< nullopt: all steps
  bool ListedOnly = false;           ///< see SeriesOptions::ListedOnly
  int Threads = 4;                   ///< threads of a rank that inspect files

  /// Returns the number of the selected step, or an empty list for all steps.
  std::vector<std::int64_t> Numbers() const
  {
    return this->Step ? std::vector<std::int64_t>{*this->Step} : std::vector<std::int64_t>();
  }
};

/// Adds the required argument "path" of the data. `path` gets the normalized path. orElse: text for the help
/// on what else the path may be.
void AddPath(CLI::App& command, std::string& path, const std::string& orElse = {});
/// Adds the options for all members of `arguments`. defaultSteps: text for the help on the steps that are
/// selected without --step.
void AddSeriesArguments(
    CLI::App& command, SeriesArguments& arguments, const std::string& defaultSteps = "all time steps");

/// Starts MPI, and ends it when destroyed. A program has one such session.
class Session
{
public:
  Session(int* argc, char*** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Communicator& Ranks() const { return *this->World; }
  MPI_Comm Mpi() const { return this->World->Mpi(); }
  bool IsRoot() const { return this->World->Rank() == 0; }

  /// Runs `work` on rank 0. Throws Error, on all ranks, if `work` throws. Collective: every rank of the
  /// session calls it.
  void OnRoot(const std::function<void()>& work) const;

  /// Prints a line on standard output, from rank 0.
  void Print(const std::string& line) const;
  /// Flushes standard output. Returns whether all output of this rank so far was written without errors.
  bool AllPrinted() const;
  /// Prints "warning: ..." on standard error, from rank 0; nothing if the text is empty.
  void Warn(const std::string& text) const;

private:
  std::unique_ptr<Communicator> World;
};

}  // namespace patchio::tools
