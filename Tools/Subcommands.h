// The subcommands of `patchio`. Each function adds a subcommand to `program`. The subcommand runs inside
// program.parse(), so `session` must outlive `program`.
#pragma once

namespace CLI {
class App;
}

namespace patchio::tools {

class Session;

/// `patchio convert`: converts data of any format into a container.
void AddConvert(CLI::App& program, Session& session);
/// `patchio export`: exports time steps to VTKHDF files, or to files of VTK's XML formats.
void AddExport(CLI::App& program, Session& session);
/// `patchio index`: writes or removes the index files of a series.
void AddIndex(CLI::App& program, Session& session);
/// `patchio info`: shows the contents of a series, and the state of its index files.
void AddInfo(CLI::App& program, Session& session);
/// `patchio plan`: shows the writing ranks of a simulation, their bytes, and the number of steps that they
/// write at once.
void AddPlan(CLI::App& program, Session& session);
/// `patchio probe`: measures a storage, or evaluates results of earlier measurements.
void AddProbe(CLI::App& program, Session& session);
/// `patchio references`: writes references to the bytes of all values, for zarr and xarray.
void AddReferences(CLI::App& program, Session& session);
/// `patchio tune`: shows the numbers of threads that the thread mode Automatic would use, and why.
void AddTune(CLI::App& program, Session& session);
/// `patchio verify`: checks data and index files; in containers, also the values.
void AddVerify(CLI::App& program, Session& session);

}  // namespace patchio::tools
