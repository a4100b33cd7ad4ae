// The program patchio, with one subcommand for each task. Exit codes: 0: success; 1: failure, or faults in
// the data; 2: wrong command line.
#include "Base/Communicator.h"
#include "Base/Error.h"

#include "Hdf5/Library.h"
#include "Session.h"
#include "Subcommands.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <mpi.h>
#include <oneapi/tbb/version.h>
#include <zstd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

/// Returns the program's version, and a line with the versions of its libraries.
std::string Versions()
{
  return fmt::format(
      "patchio {}\nHDF5 {}, {}, oneTBB {}, libdeflate {}, zstd {}, fmt {}.{}.{}, CLI11 {}, nlohmann-json "
      "{}.{}.{}",
      PATCHIO_VERSION, patchio::hdf5::LibraryVersion(), patchio::MpiVersion(), TBB_runtime_version(),
      LIBDEFLATE_VERSION_STRING, ZSTD_versionString(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
      FMT_VERSION % 100, CLI11_VERSION, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH);
}

using patchio::tools::Session;

constexpr int Failed = 1;
constexpr int WronglyUsed = 2;

void PrintError(const Session& session, const std::string& message)
{
  if (session.IsRoot()) {
    std::fprintf(stderr, "patchio: %s\n", message.c_str());
  }
}

/// Reports an exception of the parser, and returns the exit code. CLI11 reports --help and --version as
/// exceptions, too.
int ReportParse(const CLI::App& program, const CLI::ParseError& error, const Session& session)
{
  if (error.get_exit_code() == 0) {
    return session.IsRoot() ? program.exit(error) : 0;
  }
  if (error.get_name() == "RuntimeError") {
    return error.get_exit_code();  // a script has failed and has printed the reason
  }
  // If a subcommand is mistyped, CLI11 only says that a subcommand is missing.
  const std::vector<std::string> unknown = program.remaining();
  const bool mistyped = program.get_subcommands().empty() && !unknown.empty();
  const char* const kind = mistyped && unknown.front()[0] == '-' ? "option" : "subcommand";
  const std::string what =
      mistyped ? fmt::format("Unknown {} '{}'.", kind, unknown.front()) : std::string(error.what());
  PrintError(session, what + "\nRun with --help for a list of subcommands and options.");
  return WronglyUsed;
}

int Run(int argc, char** argv, Session& session)
{
  CLI::App program(
      "Tools for patch-based simulation output of SAMRAI, AMReX, k-Wave, GrADS and VTKHDF", "patchio");
  program.set_version_flag("--version", Versions());
  program.require_subcommand(1);
  patchio::tools::AddConvert(program, session);
  patchio::tools::AddExport(program, session);
  patchio::tools::AddIndex(program, session);
  patchio::tools::AddInfo(program, session);
  patchio::tools::AddPlan(program, session);
  patchio::tools::AddProbe(program, session);
  patchio::tools::AddReferences(program, session);
  patchio::tools::AddTune(program, session);
  patchio::tools::AddVerify(program, session);
  if (argc == 1) {
    // A call without arguments is an error, so that a script notices an empty variable.
    if (session.IsRoot()) {
      std::fputs(program.help().c_str(), stderr);
    }
    return WronglyUsed;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParse(program, error, session);
  } catch (const patchio::tools::UsageError& error) {
    PrintError(session, error.what());
    return WronglyUsed;
  } catch (const patchio::Error& error) {
    // Errors are thrown on all ranks together, so every rank reaches this line.
    PrintError(session, error.what());
    return Failed;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv)
{
  // By default, SIGXFSZ kills the program when a file exceeds the limit (ulimit -f). If the signal is
  // ignored, the write fails, and the program reports the error.
  std::signal(SIGXFSZ, SIG_IGN);
  Session session(&argc, &argv);
  try {
    const int code = Run(argc, argv, session);
    if (session.AllPrinted()) {
      return code;
    }
    PrintError(session, patchio::FileError("standard output", "to write all output", "a write error",
                            "Part of the output is missing; check whether the disk is full")
                            .what());
    return code == 0 ? Failed : code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio: internal error on rank %d: %s\n", session.Ranks().Rank(), error.what());
    if (session.Ranks().Size() > 1) {
      // Other ranks may be waiting for this rank, and would wait forever.
      MPI_Abort(session.Mpi(), Failed);
    }
    return Failed;
  }
}
