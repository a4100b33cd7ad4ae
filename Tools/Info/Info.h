// `patchio info`: what a path holds, and the state of its sidecars.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddInfo(CLI::App& program, Session& session);

}  // namespace patchio::tools
