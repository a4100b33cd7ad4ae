// The subcommands of `patchio`. Each function adds one to the program. It runs inside program.parse(), so
// `session` must outlive `program`.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// `patchio convert`: converts data of any format into a container.
void AddConvert(CLI::App& program, Session& session);
/// `patchio export`: exports data of any format to VTKHDF files, or to files of VTK's XML formats.
void AddExport(CLI::App& program, Session& session);
/// `patchio index`: writes the index files of a series, so that even the first opening of the series is
/// quick.
void AddIndex(CLI::App& program, Session& session);
/// `patchio info`: shows the contents of a series, and the state of its index files.
void AddInfo(CLI::App& program, Session& session);
/// `patchio plan`: shows the writing ranks of a simulation, their bytes, and the number of steps that they
/// write at once.
void AddPlan(CLI::App& program, Session& session);
/// `patchio probe`: measures a file system.
void AddProbe(CLI::App& program, Session& session);
/// `patchio references`: writes references to the bytes of all values, for zarr and xarray.
void AddReferences(CLI::App& program, Session& session);
/// `patchio tune`: shows what the thread mode Automatic would do with given data, and why.
void AddTune(CLI::App& program, Session& session);
/// `patchio verify`: checks whether the data are complete.
void AddVerify(CLI::App& program, Session& session);

}  // namespace patchio::tools
