// Runs the Python scripts of this project.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

/// Runs a script of share/patchio, in this program's build or install tree, with these arguments, and returns
/// its exit code. python: the interpreter; empty: the first one that has matplotlib or, unless `draws`, the
/// first one. Throws Error if the script or such a Python is missing; the message has the command that runs
/// the script elsewhere.
int RunPythonScript(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, bool draws);

}  // namespace patchio::tools
