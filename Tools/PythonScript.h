// Runs our Python scripts, which need matplotlib.
#pragma once

#include <string>
#include <vector>

namespace patchio::tools {

/// Runs a script of share/patchio, in this program's build or install tree, with these arguments. python: the
/// interpreter; empty: the first one that has matplotlib. Returns why there is no picture and how to get it
/// elsewhere; empty when there is one.
std::string RunPythonScript(
    const std::string& name, const std::vector<std::string>& arguments, const std::string& python);

}  // namespace patchio::tools
