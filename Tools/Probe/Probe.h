// `patchio probe`: what a storage gives to every function of MPI-IO, and to how many requests at once.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddProbe(CLI::App& program, Session& session);

}  // namespace patchio::tools
