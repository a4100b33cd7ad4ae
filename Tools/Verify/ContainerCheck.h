// What `patchio verify` finds in a container beyond missing bytes: values that are not those that were
// written.
#pragma once

#include "Base/Communicator.h"
#include "Formats/Format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::tools {

/// True where the path leads to a container.
bool IsInContainer(const std::string& path);

/// Reads all values of the step and compares them with the checksums in its tables; and looks whether data
/// sets overlap. What is wrong, a line each; names patches and variables. Throws Error when the step cannot
/// be opened.
std::vector<std::string> FaultsOfValues(const TimeStep& step, int threads);

/// Collective: what is wrong with each of these steps of a container, empty where nothing is: a file that is
/// gone, cut off or was never completed, a damaged table; values of other checksums only if `checkValues`.
/// Ranks share the steps. Throws Error on all ranks where the log cannot be read.
std::vector<std::string> FaultsOfSteps(Communicator& ranks, const std::string& folder,
    const std::vector<std::int64_t>& steps, bool checkValues, int threads);

/// Lines to print.
struct LogFindings
{
  std::vector<std::string> Faults;  ///< damaged records, a record that is not complete, files without one
  std::vector<std::string> Notes;   ///< what interrupted writes have left, which does no harm
};
LogFindings LookAtLog(const std::string& path);

}  // namespace patchio::tools
