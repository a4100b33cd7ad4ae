// The short way: what the reader needs to choose its threads, kept as the profile of the storage.
#pragma once

#include "Probe/Settings.h"

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

/// Collective. Measures N* and the block size of the storage of `settings.Directory`, says what it found and
/// saves it as the profile that the reader looks for. Throws Error, on all ranks.
void RunQuick(const Settings& settings, tools::Session& session);

}  // namespace patchio::probe
