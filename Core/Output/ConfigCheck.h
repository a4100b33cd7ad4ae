// What is checked of an output configuration before the first step.
#pragma once

#include "Output/OutputConfig.h"
#include "Support/Communicator.h"

#include <string>

namespace patchio::output {

/// Collective. Throws Error, the same on all ranks, where a rank has another configuration than rank 0: it
/// names the first key that differs, with both values.
void CheckAlike(const OutputConfig& config, Communicator& ranks);

/// Not collective. Throws Error where nothing can be made at a path: the folder, or the nearest one above
/// that exists, cannot be written.
void CheckPlace(const std::string& path);

}  // namespace patchio::output
