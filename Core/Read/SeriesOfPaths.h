// The time steps behind the paths that a user opens together.
#pragma once

#include "Formats/Format.h"
#include "Store/ChannelMode.h"

#include <string>
#include <vector>

namespace patchio {

/// Opens the series of all paths, tidied by TidyPath(), and joins them in ascending order of steps, each step
/// once. A warning says where different paths have steps in common. `paths` must not be empty. With
/// SeriesOptions::LaterFiles, steps of files beside them follow, unless those cannot be opened. In the modes
/// that read or write sidecars, steps that are known there are not opened. Throws Error, also where the paths
/// are of several formats.
Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, ChannelMode mode);

}  // namespace patchio
