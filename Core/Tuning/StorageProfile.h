// The profile of the storage behind a mount, kept in a file that users can read and write.
#pragma once

#include "Plan/ReadPlan.h"
#include "Tuning/Mount.h"
#include "Tuning/RateFit.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The values of StorageProfile::Source.
constexpr const char* MeasuredSource = "measured";
constexpr const char* HandSource = "given by hand";
constexpr const char* SiteSource = "site";

/// Time for which a measured profile is valid, in seconds.
constexpr double ProfileLifetime = 90 * 86400.0;

/// The range of StorageProfile::BlockBytes in probed profiles.
constexpr std::uint64_t LeastBlockBytes = 64 << 10;
constexpr std::uint64_t MostBlockBytes = 64 << 20;

/// The rates of one storage and its best number of requests in flight, measured or written by a user.
struct StorageProfile
{
  Mount StorageMount;               ///< Point is always set, the other members only if measured
  std::vector<RateSample> Samples;  ///< usually empty if written by a user
  RateFit Fit;                      ///< law fitted to the samples
  int Concurrency = 0;              ///< N*; >= 1 in all profiles that were saved or found
  /// Number of threads NT by number of ranks NP; empty unless a user wrote the table. If the user wrote no
  /// N*, N* is the median of NP x NT.
  std::map<int, int> ThreadsOfRanks;
  std::optional<StorageModel> CostOfRequest;  ///< cost of requests near N*, if known
  std::uint64_t BlockBytes = 0;               ///< best size of requests; 0: unknown
  std::string BestFunction;        ///< fastest of MPI's reading functions, or "pread"; empty: unknown
  std::string Node;                ///< NodeClass() of the measuring node; empty: any
  int Ranks = 0;                   ///< number of ranks that measured the profile; 0: unknown
  bool FromReads = false;          ///< true: measured during reads, never by a probe
  double MeasuredAt = 0;           ///< seconds since 1970; 0: unknown
  double ExpiresAt = 0;            ///< seconds since 1970; 0: never
  std::string Source;              ///< MeasuredSource, HandSource or SiteSource
  std::vector<std::string> Notes;  ///< notes for the user
  std::string File;                ///< path of the profile's file; empty for a new profile

  /// Returns NT of each of `rankCount` ranks, at least 1. If ThreadsOfRanks is empty, NT is N* / NP.
  /// Otherwise the total number of threads is that of the entry with the most ranks up to `rankCount`; with
  /// fewer ranks than in the first entry, NT is that of the first entry.
  int ThreadsFor(int rankCount) const;
  /// Returns whether the fit may also determine the initial number of reads, see SetInitialReads(). Returns
  /// false if the fit is unknown or comes from the few N that reads have tried, or if a user wrote the
  /// profile or its table of threads.
  bool HasReliableFit() const;
};

/// Returns the user's own folder of profiles: $PATCHIO_PROFILE_DIR, or $XDG_CONFIG_HOME/patchio/storage (if
/// absolute), or ~/.config/patchio/storage. Returns an empty text if PATCHIO_PROFILE_DIR, XDG_CONFIG_HOME and
/// HOME are not set.
std::string UserProfileFolder();
/// Returns the folders with profiles for all users: the folders in $PATCHIO_SITE_PROFILES, separated by ':',
/// then /etc/patchio/storage.
std::vector<std::string> SiteProfileFolders();

/// Finds the best profile for reading with `rankCount` ranks from the storage of `path`; the path need not
/// exist. The user's own profiles take precedence over site-wide profiles. In one folder, the order of
/// preference is: longest mount point, without samples (written by a user), same node class, probed rather
/// than measured during reads, nearest rank class, newest. Ignores files that cannot be read or are
/// malformed, expired profiles, and profiles for another type or source of mount; adds a line to `notes` (may
/// be null) for each ignored file or profile. Fits F to the samples of the profile. Does not throw.
std::optional<StorageProfile> FindProfile(
    const std::string& path, std::vector<std::string>* notes = nullptr, int rankCount = 1);

/// Finds a profile for the mounts in the file `mountInfo` and at the time `now`; for tests.
std::optional<StorageProfile> FindProfile(const std::string& path, std::vector<std::string>* notes,
    const std::string& mountInfo, double now, int rankCount = 1);

/// Returns the profile as JSON for users. Times are UTC.
std::string TextOf(const StorageProfile& profile);

/// Parses a text with one profile, or with a table of mounts:
///
///     {"mount": "/scratch", "best_concurrency": 32}
///     {"mount": "/scratch", "threads_of_ranks": {"1": 16, "4": 8, "16": 2}}
///     {"storages": {"/scratch": 32, "/home": 4}}
///
/// A profile without "source": "measured" counts as written by a user and expires only if it has an
/// "expires_at". Does not set StorageProfile::Fit, because a fit takes milliseconds and few profiles of a
/// folder need it. `file`: path for StorageProfile::File and for messages. Throws Error if the text is
/// malformed.
std::vector<StorageProfile> ParseProfiles(const std::string& text, const std::string& file);

/// Replaces the user's own profile of this mount, node class and rank class, atomically. Returns the file's
/// path. Throws Error if the file cannot be written, no folder is known (see UserProfileFolder()), or the
/// mount point or N* is unknown.
std::string SaveProfile(const StorageProfile& profile);

/// Merges samples of a read into a profile, and fits F and N* again. Scales old and new samples to a common
/// level, a quarter of the way from the old to the new level, because load and request sizes may differ; the
/// new samples thus contribute to the shape. Samples of a single N change only the level of a known fit.
/// Keeps only the newest few samples of each N and its close neighbours. A profile written by a user, and a
/// site-wide profile without a fit, stay unchanged. A site-wide profile with a fit becomes a measured
/// profile. A profile that was site-wide or had no date gets the current date. Other profiles keep their
/// dates, so that they expire and users probe the storage again. Returns whether the profile has changed.
/// Does not save the profile.
bool MergeSamples(StorageProfile& profile, const std::vector<RateSample>& samples);

/// Returns the current time in seconds since 1970.
double CurrentUnixTime();

/// Returns the text of a time in seconds since 1970, such as "2026-01-31T12:00:00Z".
std::string UtcText(double seconds);

}  // namespace patchio
