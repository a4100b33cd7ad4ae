#include "Probe/Keep.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <optional>

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
  return fmt::format("N* = {}, measured {}", old.Concurrency, DateText(old.MeasuredAt));
}

}  // namespace

Kept KeepProfile(const StorageProfile& profile, const std::string& path, const std::string& doubt)
{
  Kept kept;
  const std::optional<StorageProfile> old = FindProfile(path);
  const bool measured = old && old->Source == MeasuredSource;
  if (!doubt.empty() && measured) {
    kept.Lines.push_back(
        fmt::format("not kept for the reader, as {}; the profile that is there stays: {} ({})", doubt,
            TextOfOld(*old), old->File));
    kept.Lines.push_back("Remove that file and measure again to have the new one all the same.");
    return kept;
  }
  kept.File = SaveProfile(profile);
  kept.Lines.push_back("kept for the reader: " + kept.File);
  if (measured) {
    kept.Lines.push_back(fmt::format("it replaces: {}; now N* = {}", TextOfOld(*old), profile.Concurrency));
  }
  const std::optional<StorageProfile> used = FindProfile(path);
  std::error_code fault;
  if (used && !std::filesystem::equivalent(used->File, kept.File, fault)) {
    kept.Lines.push_back(fmt::format("but the reader goes on taking {} (N* = {}, {}), which comes before it",
        used->File, used->Concurrency, used->Source));
  }
  return kept;
}

}  // namespace patchio::probe
