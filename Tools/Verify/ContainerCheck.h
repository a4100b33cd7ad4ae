// The checks of containers for `patchio verify` and `patchio convert`. Some of the checks compare values with
// checksums.
#pragma once

#include "Base/Communicator.h"
#include "Formats/Format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::tools {

/// Returns whether `path` is a container, or a file in a container.
bool IsInContainer(const std::string& path);

/// Compares all values of the step with the checksums in the step's tables, and the step's record with the
/// tables and the HDF5 files. Returns a line for each fault, such as a wrong value or overlapping data sets.
/// Throws Error if the step or its checksums cannot be read. Not collective.
std::vector<std::string> FaultsOfValues(const TimeStep& step, int threads);

/// Returns the first fault of each of these steps of a container; the text is empty if the step has no fault,
/// or if the log lacks the step. Faults are files that are missing, cut off or incomplete, damaged tables
/// and, with `checkValues`, values with wrong checksums. Each rank checks a part of the steps. Throws Error
/// on all ranks if the log cannot be read. Collective: every rank of the communicator calls it.
std::vector<std::string> FaultsOfSteps(Communicator& ranks, const std::string& folder,
    const std::vector<std::int64_t>& steps, bool checkValues, int threads);

/// The results of the check of a container's log, as lines to print.
struct LogFindings
{
  std::vector<std::string> Faults;  ///< damaged records, an incomplete record, files without a record
  std::vector<std::string> Notes;   ///< harmless remains of interrupted writes
};
/// Checks the log and the file names of the container to which `path` belongs. Throws Error if the log cannot
/// be read.
LogFindings CheckLog(const std::string& path);

}  // namespace patchio::tools
