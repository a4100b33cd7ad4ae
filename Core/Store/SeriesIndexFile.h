// The index file of a series: the heads (time, step number, notes) of its steps. With it, a series opens
// without opening its steps.
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
  /// Reads the index file of the series at `path` if the mode allows it and the file is sound. A path that is
  /// itself a step has an index file as a step only.
  SeriesIndexFile(const std::string& path, ChannelMode mode);

  /// Returns the head of a step from this index file if its file has not changed; otherwise from the step's
  /// own index file; otherwise nothing.
  std::optional<TimeStep> Known(const std::string& stepPath);

  /// Adds the heads of the steps of `series`, unless their files changed less than `settleSeconds` before the
  /// look at them. Writes the index file if this changes it and the mode allows it. Returns the reason why
  /// writing failed, or an empty text.
  std::string Save(const Series& series, double settleSeconds);

  /// Warning for the user about an index file that is damaged or cannot be read; empty if there is none.
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
  std::vector<std::byte> Encode(bool beside) const;

  std::string Path;
  ChannelMode Mode;
  std::map<std::string, Entry> Entries;                      ///< by the path of the step
  std::map<std::string, std::optional<FileState>> LookedAt;  ///< states before the steps' heads were read
  std::int64_t Begin;                                        ///< time of construction; nanoseconds since 1970
  std::string WarningText;
};

/// A series that was opened with the help of its index file.
struct KeptSeries
{
  Series Opened;
  std::string Warning;      ///< SeriesIndexFile::Warning()
  std::string WhyNotSaved;  ///< text from SeriesIndexFile::Save()
};

/// Opens a series with the help of its index file, in a mode other than Off, and saves the index file. Not
/// collective. Throws Error.
KeptSeries OpenWithIndexFile(
    const std::string& path, SeriesOptions options, ChannelMode mode, double settleSeconds);

}  // namespace patchio
