// Saving the index of a time step.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "MetadataChannel/StepIndex.h"
#include "Support/Communicator.h"

#include <string>

namespace patchio {

struct SaveOutcome
{
  std::string Path;    ///< of the sidecar; empty when it was not saved
  std::string WhyNot;  ///< then the reason, a phrase
  /// When only the files' youth is in the way: seconds until a new index could be saved; else negative.
  double SecondsToWait = -1;
};

/// Collective. Writes the sidecar to the first of its places that will have it. Saves only what will be found
/// sound again. Never throws for a file system that does not let it.
SaveOutcome SaveStepSidecar(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const ChannelSettings& settings);

}  // namespace patchio
