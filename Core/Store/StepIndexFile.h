// The index file of a step, and the functions that find, check and save this file.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Store/GroupedFile.h"
#include "Store/IndexFilePath.h"
#include "Store/LocationIndex.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Modes of the metadata channel: whether index files are read and written.
enum class IndexMode
{
  Off,      ///< neither read nor written; the format locates the values each time
  On,       ///< read if there is a sound file; written after an index was built
  Rebuild,  ///< not read, but written
  ReadOnly  ///< read if there is a sound file; never written, and no index is built
};

constexpr bool ReadsIndexFiles(IndexMode mode)
{
  return mode == IndexMode::On || mode == IndexMode::ReadOnly;
}
constexpr bool WritesIndexFiles(IndexMode mode)
{
  return mode == IndexMode::On || mode == IndexMode::Rebuild;
}

/// The contents of a valid index file.
struct StepIndexFile
{
  Catalog Data;
  StepIndex Index;
  std::string Path;
  std::uint64_t Bytes = 0;  ///< size of the file
};

/// An index file that is not used, with the reason.
struct IndexFileState
{
  IndexFilePath Where;
  FileFault Fault = FileFault::Absent;
  std::string Message;
};

struct IndexFileSearch
{
  std::optional<StepIndexFile> Found;
  std::vector<IndexFileState> Passed;  ///< index files that cannot be used, in the order of the search

  /// Returns a warning for the user about index files that are damaged or cannot be read, or an empty text.
  /// The warning does not mention stale or absent files, or an unreadable file if another one was found.
  std::string Warning() const;
};

/// Looks for the index file of the step that `path` describes; reads and checks the entire index file.
/// Collective: every rank of the communicator calls it. The four steps are those of L. Cao et al., "Dual
/// channel parallel I/O: A fast data access for scientific computing", 2015: rank 0 reads and checks the
/// header; all ranks receive the table, set their views of the file, and read collectively. An index file
/// with any fault counts as absent. The result is the same on all ranks. Throws Error, the same on all ranks,
/// when `path` is relative to a folder that no longer exists.
IndexFileSearch FindStepIndexFile(Communicator& comm, const std::string& path, const IndexSettings& settings);

/// Returns the head of a step from its index file, or nothing unless the index file is sound and matches the
/// describing file. Reads a few bytes only. Not collective.
std::optional<TimeStep> HeadFromIndexFile(const std::string& path);

struct SaveOutcome
{
  std::string Path;    ///< path of the index file; empty if the index was not saved
  std::string WhyNot;  ///< the reason if the index was not saved, as a phrase
  /// Seconds until a new index could be saved, if files that changed too recently are the only obstacle;
  /// otherwise negative.
  double SecondsToWait = -1;
};

/// Writes the index file to the first path that can be written, but only if FindStepIndexFile() would accept
/// the file. Collective: every rank of the communicator calls it. Does not throw if the file system refuses;
/// see SaveOutcome::WhyNot.
SaveOutcome SaveStepIndexFile(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const IndexSettings& settings);

}  // namespace patchio
