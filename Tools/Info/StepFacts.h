// What a time step's files say of it, and what is wrong with them.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/Format.h"
#include "MetadataChannel/StepSidecar.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {

/// Arrays that cannot be read, all for something that is wrong with one file.
struct FileFaults
{
  std::string First;         ///< why the first cannot; names the file
  std::uint64_t Arrays = 0;  ///< of patches
};

/// One step; of a file of several steps, the first of them.
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

/// Opens the step and looks for each of its arrays: whether it lies in a file that is there, whole. Reads no
/// values. trustSidecar: what a valid sidecar says of the files, which it has seen unchanged, is not looked
/// for again.
StepFacts LookAt(const Format& format, const TimeStep& step, bool trustSidecar, int threads = 4);

/// The steps of this number, or all. Throws Error where there is none; it names `path` and what was left out.
std::vector<TimeStep> StepsToLookAt(
    const Series& series, const std::string& path, const std::optional<std::int64_t>& number);

/// The place of a sidecar that is there but of no use, and why; none when there is no such thing.
const SidecarState* FaultySidecar(const SidecarSearch& search);

/// "of another version", "stale" ...
const char* NameOf(FileFault fault);
/// The reason alone: its sidecar is named beside it.
std::string ReasonOf(const SidecarState& state);
}  // namespace patchio::tools
