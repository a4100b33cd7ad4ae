// The contents of a time step's files, and the faults of these files.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/Format.h"
#include "Store/StepIndexFile.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {

/// The arrays with the same fault: usually, all arrays that a damaged file makes unreadable.
struct FileFaults
{
  std::string FirstMessage;  ///< why the first array cannot be read; begins with the name of the file
  std::uint64_t Arrays = 0;  ///< number of arrays (variables on patches) that cannot be read
};

/// The contents of one step, and the faults of its files.
struct StepFacts
{
  TimeStep Step;
  std::string OpenError;        ///< why the step cannot be opened; empty if the step is open
  std::optional<Catalog> Data;  ///< nullopt if the step cannot be opened
  bool NeedsIndexFile = true;
  IndexFileSearch IndexFile;
  std::vector<std::optional<ElementType>> Types;  ///< one per variable; nullopt if no values are stored
  std::set<std::string> Files;                    ///< files that hold the step's values
  std::uint64_t Arrays = 0;                       ///< stored arrays (variables on patches), readable or not
  /// Bytes of the values in files; uncompressed bytes of arrays that only HDF5 can read.
  std::uint64_t Bytes = 0;
  /// Faults of missing or damaged files, and of patches with points outside the domain.
  std::vector<FileFaults> Faults;
};

/// Opens the step and checks whether each array of the step lies in an existing, complete file.
/// `trustIndexFile`: true to skip unchanged files that a valid index file describes; false to check also the
/// headers before values, and whether all points lie in the domain. Reads no values except the positions of
/// points. Not collective.
StepFacts InspectStep(const Format& format, const TimeStep& step, bool trustIndexFile, int threads);

/// Returns the steps with these numbers, or all steps if `numbers` is empty. Throws Error if the series lacks
/// a number. The message contains `path` and the first warnings of the series.
std::vector<TimeStep> SelectSteps(
    const Series& series, const std::string& path, const std::vector<std::int64_t>& numbers);

/// Returns the state of the first index file that exists but cannot be used; null if all index files are
/// absent, or if another index file is usable.
const RejectedIndexFile* FaultyIndexFile(const IndexFileSearch& search);

/// Returns the name of a fault: "of another version", "stale" ...
const char* NameOf(FileFault fault);
/// Returns the reason of a fault without the name of the index file.
std::string ReasonOf(const RejectedIndexFile& state);
}  // namespace patchio::tools
