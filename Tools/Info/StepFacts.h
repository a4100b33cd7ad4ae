// What the files of a time step hold, and what is wrong with them.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/Format.h"
#include "Store/StepSidecar.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {

/// Arrays that cannot be read because of one file.
struct FileFaults
{
  std::string First;         ///< why the first cannot be read; names the file
  std::uint64_t Arrays = 0;  ///< of patches
};

/// One step; for a file of several steps, the first of them.
struct StepFacts
{
  TimeStep Step;
  std::string NotOpened;        ///< why it cannot be opened; empty when it can
  std::optional<Catalog> Data;  ///< none when it cannot be opened
  bool NeedsSidecar = true;
  SidecarSearch Sidecar;
  std::vector<std::optional<ElementType>> Types;  ///< by variable; none where nothing is stored
  std::set<std::string> Files;                    ///< that hold its values
  std::uint64_t Arrays = 0;                       ///< of patches, that have bytes in files
  std::uint64_t Bytes = 0;                        ///< as stored
  std::vector<FileFaults> Faults;                 ///< missing or cut files, arrays that are not in them
  std::vector<std::string> Notes;

  bool Sound() const { return this->NotOpened.empty() && this->Faults.empty(); }
};

/// Opens the step and looks whether each of its arrays lies in a file that is there and complete. Reads no
/// values. trustSidecar: files that a valid sidecar describes, which have not changed, are not looked at
/// again. Without it, the headers before values and the positions of points are checked, too.
StepFacts LookAt(const Format& format, const TimeStep& step, bool trustSidecar, int threads);

/// The steps of this number, or all. Throws Error if there is none; it names `path` and what was left out.
std::vector<TimeStep> StepsToLookAt(
    const Series& series, const std::string& path, const std::optional<std::int64_t>& number);

/// A sidecar that is there but useless, and why; null if there is none.
const SidecarState* FaultySidecar(const SidecarSearch& search);

/// "of another version", "stale" ...
const char* NameOf(FileFault fault);
/// The reason without the name of the sidecar.
std::string ReasonOf(const SidecarState& state);
}  // namespace patchio::tools
