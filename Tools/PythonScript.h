// Our Python scripts, which need matplotlib, run from C++.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

/// Runs a script of share/patchio, of the build or install tree that this program is of, with these
/// arguments. python: the one to use, or empty for the first that has matplotlib. Gives why there is no
/// picture, and how to get it elsewhere; empty when there is one.
std::string RunPythonScript(
    const std::string& name, const std::vector<std::string>& arguments, const std::string& python);

}  // namespace patchio::tools
