// `patchio index`: makes the sidecars of a series, so that opening it is quick from the first time on.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddIndex(CLI::App& program, Session& session);

}  // namespace patchio::tools
