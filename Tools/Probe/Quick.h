// The short way: what the reader needs to choose its threads, kept as the profile of the storage.
#pragma once

#include "Probe/Settings.h"

#include <string>

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

/// Collective. Measures N*, the block size and the fastest reading function of the storage of
/// `settings.Directory` and says what it found. Saves it as the profile that the reader looks for, and in the
/// folder `output` as profile.json, with the functions' rates in result.json. Throws Error, on all ranks.
void RunQuick(const Settings& settings, const std::string& output, tools::Session& session);

}  // namespace patchio::probe
