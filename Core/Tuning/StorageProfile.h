// What is known about the storage behind a mount, kept in a file that people can read and write.
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

/// How long a measured profile is trusted, in seconds.
constexpr double ProfileLifetime = 90 * 86400.0;

/// The range of StorageProfile::BlockBytes.
constexpr std::uint64_t LeastBlockBytes = 64 << 10;
constexpr std::uint64_t MostBlockBytes = 64 << 20;

struct StorageProfile
{
  Mount Where;                      ///< Point is always known, the rest where it was measured
  std::vector<RateSample> Samples;  ///< none where given by hand
  RateFit Fit;                      ///< of the samples
  int Concurrency = 0;              ///< N*; >= 1 in every profile that was saved or found
  /// NP -> NT, where given by hand in place of N*, which is then the median of NP NT.
  std::map<int, int> ThreadsOfRanks;
  std::optional<StorageModel> Requests;  ///< near N* requests in flight, where that was measured or given
  std::uint64_t BlockBytes = 0;          ///< for requests; 0: not known
  std::string BestFunction;        ///< the fastest of MPI's reading functions, or "pread"; empty: not known
  std::string Node;                ///< NodeClass() of where it was measured; empty: any
  int Ranks = 0;                   ///< that measured it; 0: not known
  bool FromReads = false;          ///< nobody has probed it: reads have, on their way
  double MeasuredAt = 0;           ///< seconds since 1970; 0: not known
  double ExpiresAt = 0;            ///< seconds since 1970; 0: never
  std::string Source;              ///< MeasuredSource, HandSource or SiteSource
  std::vector<std::string> Notes;  ///< what people should know
  std::string File;                ///< where it was found; empty when it is new

  /// NT of each of `processes` ranks: of ThreadsOfRanks, where it has them (the entry for the most ranks that
  /// are not more, its threads divided among all), else N* / NP; at least 1.
  int ThreadsFor(int processes) const;
  /// Whether the fit may decide on more than N*: not against what somebody wrote, nor from the few N that
  /// reads have tried.
  bool TellsStarts() const;
};

/// Where one's own profiles lie: $PATCHIO_PROFILE_DIR, or $XDG_CONFIG_HOME/patchio/storage, or
/// ~/.config/patchio/storage; empty where there is none of these.
std::string OwnProfileFolder();
/// Those that somebody has put there for all users: the folders in $PATCHIO_SITE_PROFILES, which ':'
/// separates, then /etc/patchio/storage.
std::vector<std::string> SiteProfileFolders();

/// The profile for reading with `ranks` from the storage that `path`, which need not exist, lies on: one's
/// own, else a site-wide one; among those of the longest mount, one that was given by hand, then one of this
/// kind of node, then one that was probed rather than made by reads, then that of the nearest rank class,
/// then the newest. Passed over, each with a line in `notes` that says why: files that cannot be read or make
/// no sense, profiles that have expired, or whose mount is of another type or source now. Never fails.
std::optional<StorageProfile> FindProfile(
    const std::string& path, std::vector<std::string>* notes = nullptr, int ranks = 1);

/// The same with the mounts of another file, and another time; for tests.
std::optional<StorageProfile> FindProfile(const std::string& path, std::vector<std::string>* notes,
    const std::string& mountInfo, double now, int ranks = 1);

/// As JSON for people. Times are UTC.
std::string TextOf(const StorageProfile& profile);

/// The profiles in a text: one, or a table of mounts:
///
///     {"mount": "/scratch", "best_concurrency": 32}
///     {"mount": "/scratch", "threads_of_ranks": {"1": 16, "4": 8, "16": 2}}
///     {"storages": {"/scratch": 32, "/home": 4}}
///
/// What says nothing of "measured" is given by hand and does not expire. Throws Error, which names `file`.
std::vector<StorageProfile> ProfilesOfText(const std::string& text, const std::string& file);

/// Replaces the own profile of this mount, kind of node and rank class, whole or not at all; gives the file's
/// path. Throws Error where that cannot be written, or N* is not known.
std::string SaveProfile(const StorageProfile& profile);

/// What a read has found out. New samples are blended with old ones: both are moved to a common level, a
/// quarter of the way to the new ones (other loads, other sizes of requests), so that the new ones add to the
/// shape; samples of a single N move the level only. Then F and N* are fitted anew. The newest few samples of
/// one N are kept. A profile that was given, by hand or site-wide without samples, is left as it is; a
/// site-wide one with samples becomes an own, measured one. One without a date gets that of today: others
/// stay as old as what they began with, so that what was probed is probed again some day. Gives whether
/// anything was changed. It is not saved.
bool MergeSamples(StorageProfile& profile, const std::vector<RateSample>& samples);

/// Seconds since 1970.
double ProfileNow();

}  // namespace patchio
