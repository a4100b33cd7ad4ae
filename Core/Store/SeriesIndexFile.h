// The index file of a series, which contains the heads (time, step number, notes) of the steps, so that a
// series opens without opening the steps.
#pragma once

#include "Formats/Format.h"
#include "Store/Fingerprint.h"
#include "Store/IndexFilePath.h"
#include "Store/StepIndexFile.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Reads and saves the index file of a series. Pass HeadOf() to the format as SeriesOptions::KnownHead, and
/// then call Save() with the opened series. Not collective.
class SeriesIndexFile
{
public:
  /// Reads the index file of the series at `path` if `mode` allows reading. If no index file can be used,
  /// this object begins without heads; see Warning(). If `path` is a single step, its index file is that of
  /// the step and has no heads.
  SeriesIndexFile(const std::string& path, IndexMode mode);

  /// Returns the head of the step `stepPath` (TimeStep::Path) from this index file if the file of the step
  /// has not changed, or else from the index file of the step. Returns nothing if neither index file has the
  /// head or the mode forbids reading. Records the state of the file of the step for Save().
  std::optional<TimeStep> HeadOf(const std::string& stepPath);

  /// Adds the heads of the steps of `series` for which HeadOf() was called, except for steps whose files
  /// changed later than `settleSeconds` before the construction of this object. If there are new heads or
  /// notes and the mode allows writing, writes the index file to the first path at which writing succeeds.
  /// Writes nothing for a single step, whose index file is that of the step. Returns the reason why writing
  /// failed as a message, or an empty text.
  std::string Save(const Series& series, double settleSeconds);

  /// Returns WarningAbout() the index files of the series.
  const std::string& Warning() const { return this->WarningText; }

private:
  /// The head of a step, and the fingerprint of the file of the step.
  struct Entry
  {
    Fingerprint Print;
    double Time = 0;
    std::int64_t Step = 0;
    bool HasNotes = false;
    std::vector<std::string> Notes;
  };
  void Load(const IndexFilePath& indexFile);
  std::vector<std::byte> Encode(bool omitPath) const;

  std::string Path;
  IndexMode Mode;
  std::map<std::string, Entry> Entries;  ///< the key is the path of the step
  /// States of files before the heads of the steps were read.
  std::map<std::string, std::optional<FileState>> StatesBefore;
  std::int64_t Begin;  ///< time of construction, nanoseconds since 1970
  std::string WarningText;
};

/// A series that was opened with the help of its index file.
struct IndexedSeries
{
  Series Contents;
  std::string Warning;    ///< SeriesIndexFile::Warning(); empty for a single step
  std::string SaveFault;  ///< result of SeriesIndexFile::Save()
};

/// Opens the series at `path` with the help of its index file, and saves the index file if `mode` allows
/// writing. `options`: KnownHead takes precedence over index files; `mode`: a mode other than Off;
/// `settleSeconds`: see SeriesIndexFile::Save(). Throws Error if the series cannot be opened. Not collective.
IndexedSeries OpenWithIndexFile(
    const std::string& path, SeriesOptions options, IndexMode mode, double settleSeconds);

}  // namespace patchio
