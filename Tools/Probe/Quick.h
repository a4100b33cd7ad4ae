// The short way: what the reader needs to choose its threads, kept as the profile of the storage.
#pragma once

#include "Probe/Settings.h"
#include "Tuning/StorageProfile.h"

#include <string>
#include <vector>

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

/// Collective. Measures N*, the block size and the fastest reading function of the storage of
/// `settings.Directory` and says what it found. Saves it as the profile that the reader looks for, and in the
/// folder `output` as profile.json, with the functions' rates in result.json. Throws Error, on all ranks.
void RunQuick(const Settings& settings, const std::string& output, tools::Session& session);

/// The fate of a new profile: lines for people.
struct Kept
{
  std::string File;  ///< where it is; empty where it was not kept
  std::vector<std::string> Lines;
};

/// Keeps the profile of the storage of `path`, for the reader, unless N* may lie anywhere, as `sure` says, or
/// there is a measured one already that is worth more: because `doubt` says why the new one is worth little
/// (empty: it is not), or because the new one is less sure. force: then, too. Says what it replaces, and
/// whether the reader takes another one all the same. Throws Error where it cannot be written.
Kept KeepProfile(const StorageProfile& profile, const std::string& path, const ConcurrencyRange& sure,
    const std::string& doubt, bool force = false);

}  // namespace patchio::probe
