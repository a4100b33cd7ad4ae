// One time step from any format into a container, by all ranks together and with bounded memory.
#pragma once

#include "Plan/Interest.h"
#include "Session/OpenedStep.h"
#include "Support/Communicator.h"
#include "Write/Compression.h"
#include "Write/ContainerWriter.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace patchio::tools {

/// What of a step is converted, and how.
struct ConversionOptions
{
  std::set<std::string> Variables;  ///< empty: all
  int FirstLevel = 0, LastLevel = 1 << 20;
  RegionOfInterest Region;  ///< patches that do not meet it are left out
  int Threads = 4;          ///< of a rank
  container::CompressionChoice Compression = container::CompressionChoice::Off;
  std::uint64_t BatchBytes = std::uint64_t(64)
                             << 20;  ///< of values that a rank reads at once; it holds twice as many
};

struct ConversionResult
{
  std::uint64_t Patches = 0, Arrays = 0, Bytes = 0;  ///< of all ranks
  container::StepRecord Record;                      ///< of what was written; on rank 0
};

/// Collective. Layers of ghosts are left behind. progress: told on each rank what part of its values is done.
/// Throws Error, the same on all ranks.
ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress);

}  // namespace patchio::tools
