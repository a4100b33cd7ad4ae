// The quick mode of `patchio probe`: measures the storage profile from which the reader chooses its threads.
#pragma once

#include "Probe/Settings.h"
#include "Tuning/StorageProfile.h"

#include <string>
#include <vector>

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

/// Collective: measures N*, the block size and the fastest read function of the storage of
/// `settings.Directory`, and prints the results. Saves them as the profile for the reader, and in the folder
/// `output` as profile.json, with the rates of the functions in result.json. Throws Error, on all ranks.
void RunQuick(const Settings& settings, const std::string& output, tools::Session& session);

/// The result of KeepProfile().
struct Kept
{
  std::string File;                ///< path of the saved profile; empty if it was not saved
  std::vector<std::string> Lines;  ///< report for the user
};

/// Saves the profile of the storage of `path` for the reader, unless the confidence interval `sure` of N* is
/// too wide, or a measured profile exists that is more reliable. A new profile is less reliable if `doubt` is
/// not empty, or if its rates are less certain. doubt: why the new profile is not reliable; empty if it is.
/// force: saves the profile in any case. The result says which profile was replaced, and whether the reader
/// still uses another profile. Throws Error if the profile cannot be written.
Kept KeepProfile(const StorageProfile& profile, const std::string& path, const ConcurrencyRange& sure,
    const std::string& doubt, bool force = false);

}  // namespace patchio::probe
