// The index file of a step: finding, checking and saving it.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Store/GroupedFile.h"
#include "Store/LocationIndex.h"
#include "Store/SidecarPath.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// What is done with the sidecars that keep metadata beside the data.
enum class ChannelMode
{
  Off,      ///< neither read nor written; the format says where bytes lie, each time
  On,       ///< read where there is a sound one; written after an index was built
  Rebuild,  ///< not read, but written
  ReadOnly  ///< read where there is a sound one; never written, no index is built
};

constexpr bool ReadsSidecars(ChannelMode mode)
{
  return mode == ChannelMode::On || mode == ChannelMode::ReadOnly;
}
constexpr bool WritesSidecars(ChannelMode mode)
{
  return mode == ChannelMode::On || mode == ChannelMode::Rebuild;
}

/// A sidecar that was found and is sound.
struct StepSidecar
{
  Catalog Data;
  StepIndex Index;
  std::string Path;
  std::uint64_t Bytes = 0;  ///< of the file
};

/// Why a sidecar is not used.
struct SidecarState
{
  SidecarPath Where;
  FileFault Fault = FileFault::Absent;
  std::string Message;
};

struct SidecarSearch
{
  std::optional<StepSidecar> Found;
  std::vector<SidecarState> Passed;  ///< those that cannot be used, in the order of the search

  /// For the user: what is damaged or cannot be read; empty when nothing is. A stale or absent sidecar is not
  /// mentioned, nor one that cannot be read where another was found.
  std::string Warning() const;
};

/// Collective. Looks for the sidecar of the file that describes a step, reads and checks everything in it.
/// The four steps of the paper: the master reads and checks the header; the ranks learn the table; set the
/// view; read collectively. A sidecar with any fault counts as absent. The same on all ranks. Throws Error,
/// the same on all ranks, when `path` is relative to a folder that is gone.
SidecarSearch FindStepSidecar(Communicator& comm, const std::string& path, const ChannelSettings& settings);

/// The head of a step from its sidecar, when that is sound and fits the describing file; reads a few bytes.
/// One rank alone.
std::optional<TimeStep> HeadFromSidecar(const std::string& path);

struct SaveOutcome
{
  std::string Path;    ///< of the sidecar; empty when it was not saved
  std::string WhyNot;  ///< then the reason, a phrase
  /// When files that changed too recently are the only obstacle: seconds until a new index could be saved;
  /// else negative.
  double SecondsToWait = -1;
};

/// Collective. Writes the sidecar to the first of its paths that can be written. Saves only what
/// FindStepSidecar() would accept. Does not throw when the file system refuses.
SaveOutcome SaveStepSidecar(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const ChannelSettings& settings);

}  // namespace patchio
