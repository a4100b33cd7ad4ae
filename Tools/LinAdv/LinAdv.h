// `patchio linadv`: a small AMR simulation that writes SAMRAI dumps.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// Adds the subcommand; it runs inside program.parse(). `session` must outlive `program`.
void AddLinAdv(CLI::App& program, Session& session);

}  // namespace patchio::tools
