// Finding the sidecar of a time step: reading it, and checking everything in it.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "MetadataChannel/GroupedFile.h"
#include "MetadataChannel/Places.h"
#include "MetadataChannel/StepIndex.h"
#include "Support/Communicator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// A sidecar that was found and holds.
struct StepSidecar
{
  Catalog Data;
  StepIndex Index;
  std::string Path;
  std::uint64_t Bytes = 0;  ///< of the file
};

/// What was found in one place.
struct SidecarState
{
  Place Where;
  FileFault Fault = FileFault::Absent;
  std::string Message;
};

struct SidecarSearch
{
  std::optional<StepSidecar> Found;
  std::vector<SidecarState> Passed;  ///< places without a usable sidecar, in the order of the search

  /// For the user: what is damaged or cannot be read; empty when nothing is. That one is stale or absent is
  /// no news; nor that one cannot be read where another was found.
  std::string Warning() const;
};

/// Collective. Looks for the sidecar of the file that describes a step, reads and checks everything in it.
/// The four steps of the paper: the master reads and checks the header; the ranks learn the table; set the
/// view; read collectively. Whatever is wrong with a sidecar, it is as if there were none. The same on all
/// ranks. Throws Error, the same on all ranks, when it cannot be said where sidecars lie: `path` is relative
/// to a folder that is gone.
SidecarSearch FindStepSidecar(Communicator& comm, const std::string& path, const ChannelSettings& settings);

/// The head of a step from its sidecar, when that is sound and fits the describing file; reads a few bytes.
/// One rank alone.
std::optional<TimeStep> HeadFromSidecar(const std::string& path);

}  // namespace patchio
