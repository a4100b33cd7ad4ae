// `patchio verify`: whether all of a data set is there, and its sidecars fit it.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddVerify(CLI::App& program, Session& session);

}  // namespace patchio::tools
