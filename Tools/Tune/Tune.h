// `patchio tune`: what the thread mode Automatic would do with given data, and why.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddTune(CLI::App& program, Session& session);

}  // namespace patchio::tools
