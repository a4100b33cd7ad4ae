// The index file of a time step, and the functions that find, check and save index files of steps.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Store/IndexFileHead.h"
#include "Store/IndexFilePath.h"
#include "Store/LocationIndex.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Modes of the metadata channel, which determine whether PatchIO reads and writes index files.
enum class IndexMode
{
  Off,      ///< PatchIO neither reads nor writes index files; the format locates the values each time
  On,       ///< PatchIO reads a valid index file, or else builds an index and writes an index file
  Rebuild,  ///< PatchIO builds an index and writes an index file, without reading index files
  ReadOnly  ///< PatchIO reads valid index files; it neither builds indices nor writes index files
};

/// Returns whether PatchIO reads index files in this mode.
constexpr bool ReadsIndexFiles(IndexMode mode)
{
  return mode == IndexMode::On || mode == IndexMode::ReadOnly;
}
/// Returns whether PatchIO writes index files in this mode.
constexpr bool WritesIndexFiles(IndexMode mode)
{
  return mode == IndexMode::On || mode == IndexMode::Rebuild;
}

/// The contents of a valid index file of a step.
struct StepIndexFile
{
  Catalog Data;
  StepIndex Index;
  std::string Path;         ///< path of the index file
  std::uint64_t Bytes = 0;  ///< size of the index file
};

/// A path without a usable index file, and the reason.
struct RejectedIndexFile
{
  IndexFilePath File;
  FileFault Fault = FileFault::Absent;
  std::string Message;  ///< message for the user, with the path of the index file
};

/// Returns the text of `error`, preceded by the path of the index file unless the text contains the path.
std::string MessageFor(const IndexFilePath& indexFile, const std::exception& error);

/// Returns a warning for the user about index files that are damaged, unfinished or cannot be read, or an
/// empty text. The warning does not mention absent, stale or foreign index files, nor unreadable index files
/// if another index file was `found`.
std::string WarningAbout(const std::vector<RejectedIndexFile>& rejected, bool found);

/// The result of FindStepIndexFile().
struct IndexFileSearch
{
  std::optional<StepIndexFile> Found;       ///< nothing if there is no valid index file
  std::vector<RejectedIndexFile> Rejected;  ///< paths without a usable index file, in the order of the search

  std::string Warning() const { return WarningAbout(this->Rejected, this->Found.has_value()); }
};

/// Finds the index file of the step that `path` describes, and reads and checks the entire index file. The
/// four steps are the steps of L. Cao et al., "Dual channel parallel I/O: A fast data access for scientific
/// computing", 2015: rank 0 reads and checks the header; all ranks receive the table, set their views of the
/// file, and read collectively. Rejects index files with any fault. Returns the same on all ranks. Throws
/// Error, the same on all ranks, if `path` is relative to a folder that no longer exists. Collective: every
/// rank of the communicator calls it.
IndexFileSearch FindStepIndexFile(
    Communicator& ranks, const std::string& path, const IndexSettings& settings);

/// Returns the head, without notes, of the step that `path` describes from the index file of the step, or
/// nothing if there is no valid index file that matches the describing file. Reads and checks only the
/// beginning of the index file. Not collective.
std::optional<TimeStep> HeadFromIndexFile(const std::string& path);

/// The result of SaveStepIndexFile().
struct SaveOutcome
{
  std::string Path;    ///< path of the index file; empty if the index was not saved
  std::string Reason;  ///< why the index was not saved, as a phrase or as sentences; empty if it was saved
  /// Seconds until a new index can be saved, if the only obstacle is that files changed too recently;
  /// otherwise negative.
  double SecondsToWait = -1;
};

/// Writes the index file of a step to the first path at which writing succeeds. Writes nothing if the index
/// is incomplete, if a file of the step changed recently or while it was read, or if FindStepIndexFile()
/// would reject the index file. `describing`: state of the describing file before the step was opened. Does
/// not throw if writing fails; see SaveOutcome::Reason. Collective: every rank of the communicator calls it.
SaveOutcome SaveStepIndexFile(Communicator& ranks, const Format& format, const Catalog& catalog,
    const BuiltIndex& built, const DescribingState& describing, const IndexSettings& settings);

}  // namespace patchio
