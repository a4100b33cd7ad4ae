// What `patchio verify` finds in a container beyond missing bytes: values that are not those that were
// written.
#pragma once

#include "Formats/Format.h"

#include <string>
#include <vector>

namespace patchio::tools {

/// True where the path leads to a container.
bool IsInContainer(const std::string& path);

/// Reads all values of the step and compares them with the checksums in its tables; and looks whether data
/// sets overlap. What is wrong, a line each; names patches and variables. Throws Error when the step cannot
/// be opened.
std::vector<std::string> FaultsOfValues(const TimeStep& step, int threads);

/// What is wrong with the log: damaged records, a record that is not complete, files that no record names.
std::vector<std::string> FaultsOfLog(const std::string& path);

}  // namespace patchio::tools
