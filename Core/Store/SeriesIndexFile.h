// The index file of a series: the heads (time, step number, notes) of its steps. With this file, a series
// opens without opening its steps.
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

/// Reads and saves the index file of a series. Not collective. Usage: pass Known() to the format as
/// SeriesOptions::Known, then call Save() with the opened series.
class SeriesIndexFile
{
public:
  /// Reads the index file of the series at `path` if the mode allows it and the file is sound. If `path` is
  /// itself a step, its only index file is that of the step.
  SeriesIndexFile(const std::string& path, IndexMode mode);

  /// Returns the head of a step from this index file if the step's file has not changed, or else from the
  /// step's own index file. Returns nothing if neither has the head.
  std::optional<TimeStep> Known(const std::string& stepPath);

  /// Adds the heads of the steps of `series`, unless their files changed less than `settleSeconds` before
  /// their states were determined. Writes the index file if its contents change and the mode allows writing.
  /// Returns the reason why writing failed, or an empty text.
  std::string Save(const Series& series, double settleSeconds);

  /// Returns a warning for the user about an index file that is damaged or cannot be read, or an empty text.
  const std::string& Warning() const { return this->WarningText; }

private:
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
  std::map<std::string, Entry> Entries;                          ///< key: path of the step
  std::map<std::string, std::optional<FileState>> StatesBefore;  ///< states before the steps' heads were read
  std::int64_t Begin;  ///< time of construction; nanoseconds since 1970
  std::string WarningText;
};

/// A series that was opened with the help of its index file.
struct IndexedSeries
{
  Series Opened;
  std::string Warning;      ///< SeriesIndexFile::Warning()
  std::string WhyNotSaved;  ///< text from SeriesIndexFile::Save()
};

/// Opens a series with the help of its index file, in a mode other than Off, and saves the index file. Not
/// collective. Throws Error.
IndexedSeries OpenWithIndexFile(
    const std::string& path, SeriesOptions options, IndexMode mode, double settleSeconds);

}  // namespace patchio
