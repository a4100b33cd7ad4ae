// The heads of all steps of a series, so that opening it opens none of them.
#pragma once

#include "Formats/Format.h"
#include "Store/Fingerprint.h"
#include "Store/SidecarPath.h"
#include "Store/StepSidecar.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// One rank alone. Usage: give Known() to the format as SeriesOptions::Known, then Save() what came out.
class SeriesSidecar
{
public:
  /// Reads the sidecar of a series if there is a sound one and the mode allows it. A path that
  /// is itself a step has no sidecar as a series, only as a step.
  SeriesSidecar(const std::string& path, ChannelMode mode);

  /// The head of a step if it is known and its file has not changed; else from the step's own sidecar; else
  /// nothing.
  std::optional<TimeStep> Known(const std::string& stepPath);

  /// Keeps the heads of these steps, too, unless their files changed less than `settleSeconds` before they
  /// were looked at. Writes the sidecar when that changes anything and the mode allows it. Gives the reason
  /// why it could not; empty when all is well.
  std::string Save(const Series& series, double settleSeconds);

  /// What is damaged or cannot be read; empty when nothing is.
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
  void Load(const SidecarPath& sidecar);
  std::vector<std::byte> Encode(bool beside) const;

  std::string Path;
  ChannelMode Mode;
  std::map<std::string, Entry> Entries;                      ///< by path of the step
  std::map<std::string, std::optional<FileState>> LookedAt;  ///< before the steps' heads were read
  std::int64_t Begin;                                        ///< when this was made; nanoseconds since 1970
  std::string WarningText;
};

/// A series that was opened with the help of its sidecar.
struct KeptSeries
{
  Series Opened;
  std::string Warning;      ///< SeriesSidecar::Warning()
  std::string WhyNotSaved;  ///< what SeriesSidecar::Save() gave
};

/// One rank alone. Opens a series with what its sidecar knows, in a mode other than Off, and saves what came
/// out. Throws Error.
KeptSeries OpenWithSidecar(
    const std::string& path, SeriesOptions options, ChannelMode mode, double settleSeconds);

}  // namespace patchio
