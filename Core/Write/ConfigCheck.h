// Checks of an output configuration before the first step.
#pragma once

#include "Base/Communicator.h"
#include "Write/OutputConfig.h"

#include <string>

namespace patchio::output {

/// Collective: every rank of `ranks` calls it. Throws Error, the same on all ranks, if the configuration of a
/// rank differs from that of rank 0. The Error names the first key that differs, with both values.
void CheckAlike(const OutputConfig& config, Communicator& ranks);

/// Throws Error if two channels write to the same file, however their paths are spelled, or one of them into
/// the container of the other. Not collective.
void CheckPaths(const OutputConfig& config);

/// Makes the folders above `path`. Not collective. Throws Error if that fails, or if the folder `path`, or
/// the one above it, is not writable.
void CheckPlace(const std::string& path);

}  // namespace patchio::output
