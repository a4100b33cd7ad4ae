// The checks of `patchio verify` for containers, which also compare values with their checksums.
#pragma once

#include "Base/Communicator.h"
#include "Formats/Format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::tools {

/// Returns whether the path belongs to a container, or to a file in a container.
bool IsInContainer(const std::string& path);

/// Reads all values of the step and compares them with the checksums in the step's tables, and checks whether
/// data sets overlap. Returns a line for each fault, with the names of patches and variables. Throws Error if
/// the step cannot be opened. Not collective.
std::vector<std::string> FaultsOfValues(const TimeStep& step, int threads);

/// Returns the first fault of each of these steps of a container, or an empty text for a step without faults.
/// Faults are files that are missing, cut off or incomplete, damaged tables and, with `checkValues`, values
/// with wrong checksums. The ranks share the steps. Throws Error on all ranks if the log cannot be read.
/// Collective: every rank of the communicator calls it.
std::vector<std::string> FaultsOfSteps(Communicator& ranks, const std::string& folder,
    const std::vector<std::int64_t>& steps, bool checkValues, int threads);

/// The results of the check of a container's log, as lines to print.
struct LogFindings
{
  std::vector<std::string> Faults;  ///< damaged records, an incomplete record, files without a record
  std::vector<std::string> Notes;   ///< harmless remains of interrupted writes
};
/// Checks the log and the file names of the container at `path`.
LogFindings CheckLog(const std::string& path);

}  // namespace patchio::tools
