// Runs PatchIO's Python scripts, which need matplotlib.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

/// Runs a script of share/patchio, in this program's build or install tree, with these arguments. python: the
/// interpreter; empty: the first one that has matplotlib. Returns an empty text if the picture was made, else
/// why not and how to make it elsewhere.
std::string RunPythonScript(
    const std::string& name, const std::vector<std::string>& arguments, const std::string& python);

}  // namespace patchio::tools
