#include "Probe/Keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

namespace patchio::probe {
namespace {

std::string DateText(double seconds)
{
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  char text[32] = "at an unknown date";
  if (seconds > 0 && ::gmtime_r(&time, &parts)) {
    std::strftime(text, sizeof(text), "on %Y-%m-%d", &parts);
  }
  return text;
}

std::string TextOfOld(const StorageProfile& old)
{
  return old.Source == MeasuredSource
             ? fmt::format("N* = {}, measured {}", old.Concurrency, DateText(old.MeasuredAt))
             : fmt::format("N* = {}, {}", old.Concurrency, old.Source);
}

/// Relative standard error of the mean rate of one N.
double ErrorOf(const StorageProfile& profile)
{
  std::set<int> different;
  for (const RateSample& sample : profile.Samples) {
    different.insert(sample.Concurrency);
  }
  const double each = static_cast<double>(profile.Samples.size()) / static_cast<double>(different.size());
  return std::max(profile.Fit.Noise(), profile.Fit.Residual()) / std::sqrt(each);
}

/// Why what was probed before is worth more; empty when it is not.
std::string LessSureThan(const StorageProfile& old, const StorageProfile& profile)
{
  constexpr double sure = 0.05;
  constexpr double clearly = 1.25;
  if (old.FromReads || !old.Fit.Known() || !profile.Fit.Known()) {
    return {};
  }
  const double before = ErrorOf(old), now = ErrorOf(profile);
  return now > sure && now > clearly * before
             ? fmt::format(
                   "its rates are uncertain by {:.0f} % because the time was short or the storage busy, and "
                   "those of the last probe by {:.0f} %",
                   100 * now, 100 * before)
             : std::string();
}

/// Why N* is no better than the reader's own guess; empty when it is.
std::string NoBetterThanAGuess(const ConcurrencyRange& sure)
{
  constexpr int wide = 4;
  return sure.Most > wide * sure.Least
             ? fmt::format("the 90 % confidence interval of N* is {} to {}", sure.Least, sure.Most)
             : std::string();
}

/// What the reader takes when the new profile is not kept.
std::string TextOfStaying(const std::optional<StorageProfile>& old)
{
  if (!old) {
    return "this storage has no profile yet, so the reader starts with a guess";
  }
  return fmt::format("the existing profile stays: {} ({})", TextOfOld(*old), old->File);
}

}  // namespace

Kept KeepProfile(const StorageProfile& profile, const std::string& path, const ConcurrencyRange& sure,
    const std::string& doubt, bool force)
{
  Kept kept;
  const std::optional<StorageProfile> old = FindProfile(path, nullptr, std::max(profile.Ranks, 1));
  const bool measured = old && old->Source == MeasuredSource;
  std::string against = NoBetterThanAGuess(sure);
  if (against.empty() && measured) {
    against = doubt.empty() ? LessSureThan(*old, profile) : doubt;
  }
  if (!against.empty() && !force) {
    kept.Lines.push_back(
        fmt::format("not saved for the reader, because {}; {}", against, TextOfStaying(old)));
    kept.Lines.push_back("Give more --seconds, or save the new profile anyway with --force.");
    return kept;
  }
  kept.File = SaveProfile(profile);
  kept.Lines.push_back("saved for the reader: " + kept.File);
  if (!doubt.empty()) {
    kept.Lines.push_back(fmt::format("but it is not reliable, because {}", doubt));
  }
  if (measured) {
    kept.Lines.push_back(fmt::format("replaces: {}; now N* = {}", TextOfOld(*old), profile.Concurrency));
  }
  const std::optional<StorageProfile> used = FindProfile(path);
  std::error_code fault;
  if (used && !std::filesystem::equivalent(used->File, kept.File, fault)) {
    kept.Lines.push_back(fmt::format("but the reader still uses {} (N* = {}, {}), which takes precedence",
        used->File, used->Concurrency, used->Source));
  }
  return kept;
}

}  // namespace patchio::probe
