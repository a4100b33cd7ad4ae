#include "Tuning/StorageProfile.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Tuning/RateFit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::size_t MostBytes = 1 << 20;  ///< greatest size of a profile's file

/// Reads the file of a profile. Throws Error if the file cannot be read, is not a regular file, or has more
/// than MostBytes bytes.
std::string ReadProfileText(const std::string& file)
{
  std::string text = FirstBytes(file, MostBytes + 1);
  if (text.size() > MostBytes) {
    throw FileError(file, "a storage profile", fmt::format("more than {} bytes", MostBytes));
  }
  return text;
}

/// Replaces a file atomically, and creates the folder if needed. Throws Error if the file cannot be written.
void ReplaceProfileText(const std::string& file, const std::string& text)
{
  const fs::path folder = fs::path(file).parent_path();
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) {
    throw SystemError(folder.string(), "a folder for storage profiles", fault.value());
  }
  ReplaceFile(file, text);
}

constexpr std::size_t MostFiles = 1000;  ///< per folder

/// Returns the paths of the profiles in a folder, sorted by name; empty if the folder does not exist. Adds a
/// note if the folder cannot be read, or has MostFiles profiles or more.
std::vector<std::string> ListProfileFiles(const std::string& folder, std::vector<std::string>& notes)
{
  std::vector<std::string> files;
  std::error_code fault;
  fs::directory_iterator entry(folder, fault);
  if (fault && fault != std::errc::no_such_file_or_directory) {
    notes.push_back(
        fmt::format("{}: cannot read the folder of storage profiles: {}.", folder, fault.message()));
  }
  for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
    if (entry->path().extension() == ".json") {
      files.push_back(entry->path().string());
    }
    if (files.size() == MostFiles) {
      notes.push_back(fmt::format(
          "{0}: the folder has {1} or more storage profiles. PatchIO reads only {1}. Remove old profiles.",
          folder, MostFiles));
      break;
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<StorageProfile> ReadProfiles(
    const std::string& folder, bool siteWide, std::vector<std::string>& notes)
{
  std::vector<StorageProfile> profiles;
  for (const std::string& file : ListProfileFiles(folder, notes)) {
    try {
      for (StorageProfile& profile : ParseProfiles(ReadProfileText(file), file)) {
        profile.Source = siteWide ? SiteSource : profile.Source;
        profiles.push_back(std::move(profile));
      }
    } catch (const std::exception& error) {
      notes.push_back(fmt::format("PatchIO ignores a storage profile. {}", error.what()));
    }
  }
  return profiles;
}

/// The criteria of a search for a profile.
struct ProfileQuery
{
  std::string Path;  ///< resolved path
  std::optional<Mount> StorageMount;
  std::string Node;
  double Now = 0;
  int RankCount = 1;
};

/// Returns the distance of the rank classes of two numbers of ranks, in octaves. A profile without a number
/// of ranks counts as measured by one rank.
int OctavesApart(int a, int b)
{
  const double octaves = std::log2(RankClass(a)) - std::log2(RankClass(b));
  return static_cast<int>(std::lround(std::abs(octaves)));
}

/// Returns the reason why a profile for a mount above the path does not apply, or an empty text if it
/// applies.
std::string ReasonToIgnore(const StorageProfile& profile, const ProfileQuery& query)
{
  if (profile.ExpiresAt > 0 && profile.ExpiresAt < query.Now) {
    return "the profile has expired. Run 'patchio probe' to measure again";
  }
  if (!query.StorageMount || profile.StorageMount.Type.empty()) {
    return "";
  }
  const Mount& now = *query.StorageMount;
  for (std::string Mount::*const member : {&Mount::Type, &Mount::Source}) {
    const std::string& measured = profile.StorageMount.*member;
    if (!measured.empty() && measured != now.*member) {
      return fmt::format("the profile is for {}, but {} is mounted at {}", measured, now.*member, now.Point);
    }
  }
  return "";
}

/// Returns whether the profile is for a mount above the path. A measured profile must be for the path's own
/// mount; a profile written by a user may name a folder in this mount.
bool IsForPath(const StorageProfile& profile, const ProfileQuery& query)
{
  const bool measured = !profile.StorageMount.Type.empty();
  return IsInFolder(query.Path, profile.StorageMount.Point) &&
         (!measured || !query.StorageMount || profile.StorageMount.Point == query.StorageMount->Point);
}

std::optional<StorageProfile> SelectProfile(
    const std::vector<StorageProfile>& profiles, const ProfileQuery& query, std::vector<std::string>& notes)
{
  const auto preference = [&query](const StorageProfile& profile) {
    return std::make_tuple(profile.StorageMount.Point.size(), profile.Samples.empty(),
        profile.Node == query.Node, !profile.FromReads, -OctavesApart(profile.Ranks, query.RankCount),
        profile.MeasuredAt);
  };
  std::optional<StorageProfile> best;
  for (const StorageProfile& profile : profiles) {
    if (!IsForPath(profile, query)) {
      continue;
    }
    const std::string reason = ReasonToIgnore(profile, query);
    if (!reason.empty()) {
      notes.push_back(fmt::format("PatchIO ignores the storage profile {}: {}.", profile.File, reason));
    } else if (!best || preference(*best) < preference(profile)) {
      best = profile;
    }
  }
  if (best) {
    best->Fit = FitRates(best->Samples);
  }
  return best;
}

/// Returns the newest samples, which are last, of each group of almost equal N: at most 6 of each of eight
/// groups per octave.
std::vector<RateSample> NewestSamples(const std::vector<RateSample>& samples)
{
  constexpr int mostOfOne = 6;
  std::map<long, int> kept;
  std::vector<RateSample> newest;
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
    if (++kept[std::lround(8 * std::log2(sample->Concurrency))] <= mostOfOne) {
      newest.push_back(*sample);
    }
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

bool HaveSameConcurrency(const std::vector<RateSample>& samples)
{
  return std::all_of(samples.begin(), samples.end(),
      [&](const RateSample& sample) { return sample.Concurrency == samples.front().Concurrency; });
}

/// Returns the median of ln(rate / F(N)) over the samples, with F from `fit`.
double MedianLogRatio(const std::vector<RateSample>& samples, const RateFit& fit)
{
  std::vector<double> shifts;
  for (const RateSample& sample : samples) {
    shifts.push_back(std::log(sample.Rate / fit.At(sample.Concurrency)));
  }
  return MedianOf(shifts);
}

/// Returns a file name that is readable, and unique for each mount, node class and rank class:
/// "scratch-0123456789abcdef.json".
std::string FileNameOf(const StorageProfile& profile)
{
  std::string words;
  for (const char c : profile.StorageMount.Point) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!words.empty() && words.back() != '_')) {
      words += plain ? c : '_';
    }
  }
  constexpr std::size_t mostWords = 60;
  words = words.empty() ? "root" : words.substr(0, mostWords);
  std::string key = profile.StorageMount.Point + '\n' + profile.StorageMount.Type + '\n' +
                    profile.StorageMount.Source + '\n' + profile.Node + '\n';
  if (RankClass(profile.Ranks) > 1) {
    key += std::to_string(RankClass(profile.Ranks)) + '\n';
  }
  return fmt::format("{}-{:016x}.json", words, Checksum(key.data(), key.size()));
}

}  // namespace

int StorageProfile::ThreadsFor(int rankCount) const
{
  const int ranks = std::max(rankCount, 1);
  if (this->ThreadsOfRanks.empty()) {
    return std::max(1, this->Concurrency / ranks);
  }
  auto entry = this->ThreadsOfRanks.upper_bound(ranks);
  if (entry != this->ThreadsOfRanks.begin()) {
    --entry;
  }
  const double total = static_cast<double>(entry->first) * entry->second;
  return std::max(1, static_cast<int>(entry->first > ranks ? entry->second : total / ranks));
}

bool StorageProfile::HasReliableFit() const
{
  return this->Fit.Known() && this->Source != HandSource && !this->FromReads && this->ThreadsOfRanks.empty();
}

std::string UserProfileFolder()
{
  const std::string chosen = FromEnvironment("PATCHIO_PROFILE_DIR");
  if (!chosen.empty()) {
    return AbsolutePath(chosen);
  }
  const std::string folder = UserFolder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/storage";
}

std::vector<std::string> SiteProfileFolders()
{
  std::vector<std::string> folders;
  std::istringstream setting(FromEnvironment("PATCHIO_SITE_PROFILES"));
  for (std::string folder; std::getline(setting, folder, ':');) {
    if (!folder.empty()) {
      folders.push_back(folder);
    }
  }
  folders.emplace_back("/etc/patchio/storage");
  return folders;
}

std::optional<StorageProfile> FindProfile(
    const std::string& path, std::vector<std::string>* notes, int rankCount)
{
  return FindProfile(path, notes, ProcMountInfo, CurrentUnixTime(), rankCount);
}

std::optional<StorageProfile> FindProfile(const std::string& path, std::vector<std::string>* notes,
    const std::string& mountInfo, double now, int rankCount)
{
  std::vector<std::string> unused;
  std::vector<std::string>& collected = notes ? *notes : unused;
  const ProfileQuery query{ResolvedPath(path), MountOf(path, mountInfo), NodeClass(), now, rankCount};
  const std::string own = UserProfileFolder();
  if (!own.empty()) {
    if (auto profile = SelectProfile(ReadProfiles(own, false, collected), query, collected)) {
      return profile;
    }
  }
  for (const std::string& folder : SiteProfileFolders()) {
    if (auto profile = SelectProfile(ReadProfiles(folder, true, collected), query, collected)) {
      return profile;
    }
  }
  return {};
}

std::string SaveProfile(const StorageProfile& profile)
{
  const std::string folder = UserProfileFolder();
  if (folder.empty()) {
    throw Error(
        "PatchIO has no folder for storage profiles, because PATCHIO_PROFILE_DIR, XDG_CONFIG_HOME and HOME "
        "are not set. Set one of these variables.");
  }
  if (profile.Concurrency < 1 || profile.StorageMount.Point.empty()) {
    throw Error(
        "The storage profile cannot be saved: its mount point or the best number of concurrent requests is "
        "unknown. Measure for a longer time.");
  }
  const std::string file = (fs::path(folder) / FileNameOf(profile)).string();
  ReplaceProfileText(file, TextOf(profile));
  return file;
}

bool MergeSamples(StorageProfile& profile, const std::vector<RateSample>& samples)
{
  constexpr double newShare = 0.25;
  std::vector<RateSample> added;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(added), IsValidSample);
  const bool hasNoFit = profile.Source != MeasuredSource && !profile.Fit.Known();
  if (profile.Source == HandSource || hasNoFit || added.empty()) {
    return false;
  }
  if (profile.Fit.Known()) {
    const double level = MedianLogRatio(added, profile.Fit);
    for (RateSample& sample : profile.Samples) {
      sample.Rate *= std::exp(newShare * level);
    }
    for (RateSample& sample : added) {
      sample.Rate *= std::exp((newShare - 1) * level);
    }
    if (HaveSameConcurrency(added)) {
      added.clear();  // samples of one N tell the level, but nothing about the shape
    }
  }
  profile.Samples.insert(profile.Samples.end(), added.begin(), added.end());
  profile.Samples = NewestSamples(profile.Samples);
  profile.Fit = FitRates(profile.Samples);
  if (profile.Fit.Known()) {
    profile.Concurrency = profile.Fit.Best();
  }
  if (profile.Source == SiteSource || profile.MeasuredAt == 0) {
    profile.Source = MeasuredSource;
    profile.MeasuredAt = CurrentUnixTime();
    profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
  }
  return true;
}

double CurrentUnixTime()
{
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace patchio
