// The subcommands of `patchio`. Each function adds one to the program. It runs inside program.parse(), so
// `session` must outlive `program`.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// `patchio convert`: from any format into a container.
void AddConvert(CLI::App& program, Session& session);
/// `patchio export`: from any format into VTKHDF files, or files of VTK's XML formats.
void AddExport(CLI::App& program, Session& session);
/// `patchio index`: makes the sidecars of a series, so that opening it is quick from the first time on.
void AddIndex(CLI::App& program, Session& session);
/// `patchio info`: what a path holds, and the state of its sidecars.
void AddInfo(CLI::App& program, Session& session);
/// `patchio linadv`: a small AMR simulation that writes SAMRAI dumps.
void AddLinAdv(CLI::App& program, Session& session);
/// `patchio plan`: which ranks of a simulation write what, and how many steps at once.
void AddPlan(CLI::App& program, Session& session);
/// `patchio probe`: measures a file system.
void AddProbe(CLI::App& program, Session& session);
/// `patchio tune`: what the thread mode Automatic would do with given data, and why.
void AddTune(CLI::App& program, Session& session);
/// `patchio verify`: whether all of the data are there.
void AddVerify(CLI::App& program, Session& session);

}  // namespace patchio::tools
