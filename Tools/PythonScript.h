// Runs the Python scripts of this project.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

class Session;

/// Runs the script `name` from share/patchio or this program's folder with `arguments`. Returns the exit
/// code, or -1 if a signal ends the script. python: the interpreter; empty: python3 or /usr/bin/python3.
/// needsMatplotlib: true if the interpreter must have matplotlib and numpy; if false, any Python 3.8 or later
/// suffices. Throws Error if the script or such an interpreter is missing.
int RunPythonScript(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, bool needsMatplotlib);

/// Runs a script on rank 0 by RunPythonScript(), with `needsMatplotlib` = false. Throws, on all ranks,
/// CLI::RuntimeError if the script fails (the script prints the reason), or the Error of RunPythonScript().
/// Collective: every rank of the session calls it.
void RunPythonScriptOnRoot(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, const Session& session);

}  // namespace patchio::tools
