// Runs the Python scripts of this project.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

class Session;

/// Runs a script of share/patchio, in this program's build or install tree, with these arguments, and returns
/// its exit code. python: the interpreter; empty: the first one that has matplotlib or, unless `draws`, the
/// first one. Throws Error if the script or such a Python is missing; the message has the command that runs
/// the script elsewhere.
int RunPythonScript(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, bool draws);

/// Runs a script as above on rank 0, without matplotlib. Throws CLI::RuntimeError on all ranks if the script
/// fails. The script itself prints the reason. Collective: every rank of the session calls it.
void RunPythonScriptOnRoot(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, const Session& session);

}  // namespace patchio::tools
