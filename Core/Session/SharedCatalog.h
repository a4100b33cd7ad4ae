// One rank opens, the others are told: no file is described to many ranks by the file system.
#pragma once

#include "Formats/Format.h"
#include "MetadataChannel/ChannelMode.h"
#include "Support/Communicator.h"

#include <string>
#include <vector>

namespace patchio {

/// Collective. Rank 0 opens the series of all paths, tidied by TidyPath(), and joins them in ascending order
/// of steps, each step once; all ranks get the result. A warning says where different paths have steps in
/// common. `paths` must be the same on all ranks and not empty. In the modes that read or write sidecars,
/// rank 0 does so, and steps that are known there are not opened. Throws Error, the same on all ranks, also
/// where the paths are of several formats.
Series OpenSharedSeries(Communicator& comm, const std::vector<std::string>& paths,
    const SeriesOptions& options, ChannelMode mode = ChannelMode::Off);

/// Collective. Rank 0 reads the catalog of a time step; all ranks get it. Throws Error, the same on all
/// ranks.
Catalog ReadSharedCatalog(Communicator& comm, const std::string& path);

/// Collective. Format::RangesOf() by rank 0, for all. Throws Error, the same on all ranks.
std::vector<ValueRange> ReadSharedRanges(Communicator& comm, const Catalog& catalog, int variable);

/// Collective. What went wrong anywhere: the non-empty texts of all ranks, in rank order, without
/// repetitions. The same on all ranks, so that all take the same decision.
std::vector<std::string> GatherFaults(Communicator& comm, const std::vector<std::string>& mine);

}  // namespace patchio
