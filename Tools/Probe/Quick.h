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

/// Measures N*, the block size and, unless the probe reads existing files, the fastest read function of the
/// storage of `settings.Directory`, and prints the results. Writes profile.json, result.json with all rates,
/// and matrices.csv to the folder `output`. Unless settings.NoSave is true, also calls SaveIfReliable().
/// Throws Error, on all ranks, if the measurement fails, is too short or is interrupted by a signal, or if
/// the results cannot be saved. Collective: every rank of the communicator calls it.
void RunQuick(const Settings& settings, const std::string& output, tools::Session& session);

/// The result of SaveIfReliable().
struct SaveReport
{
  std::string File;                ///< path of the saved profile; empty if the profile was not saved
  std::vector<std::string> Lines;  ///< report for the user
};

/// Saves the profile of the storage of `path` for the reader, unless the confidence interval `interval` of N*
/// is too wide, or a more reliable measured profile exists. The new profile is less reliable if
/// `whyUnreliable` is not empty, or if the new rates are less certain than the existing rates. whyUnreliable:
/// why the new profile is not reliable; empty if the profile is reliable. force: true saves the profile in
/// any case. The result says which profile was replaced, and whether the reader still uses another profile.
/// Throws Error if the profile cannot be written.
SaveReport SaveIfReliable(const StorageProfile& profile, const std::string& path,
    const ConcurrencyRange& interval, const std::string& whyUnreliable, bool force = false);

}  // namespace patchio::probe
