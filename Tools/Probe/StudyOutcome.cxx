#include "Probe/StudyOutcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace patchio::probe {
namespace {

constexpr double FirstDoubt = 0.2;  ///< that a feature is noise; one that is worth another look may be

}  // namespace

std::vector<FeatureResult> FeaturesToRefine(const Result& found, const Choice& wanted, int most)
{
  std::vector<FeatureResult> candidates;
  FeatureOptions options;
  options.Doubt = FirstDoubt;
  for (const Function& function : wanted.Functions) {
    for (const View view : wanted.Views) {
      for (const std::uint64_t size : wanted.Sizes) {
        for (const Feature& feature : FindFeatures(CurveOf(found, function.Name, view, size), options)) {
          FeatureResult candidate;
          candidate.Function = function.Name;
          candidate.Shape = view;
          candidate.FileBytes = size;
          candidate.First = feature;
          candidates.push_back(candidate);
        }
      }
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
      [](const auto& a, const auto& b) { return a.First.Certainty > b.First.Certainty; });
  candidates.resize(std::min<std::size_t>(candidates.size(), most));
  return candidates;
}

std::vector<std::string> WarningsOf(const Result& found, double mostSeconds)
{
  std::vector<std::string> warnings;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> texts;
  int cached = 0, read = 0, cut = 0;
  for (const auto& [key, point] : found.Points) {
    if (!point.Error.empty() && point.Error.rfind("not tried", 0) != 0) {
      auto& views = texts[{key.Function, point.Error}];
      if (views.empty() || views.back() != NameOf(key.Shape)) {
        views.push_back(NameOf(key.Shape));
      }
    }
    read += !point.Rates.empty() && !SelectFunctions({key.Function}).front().Write ? 1 : 0;
    cached += point.Cached ? 1 : 0;
    cut += point.Cut ? 1 : 0;
  }
  for (const auto& [what, views] : texts) {
    warnings.push_back(fmt::format("{} ({}): {}", what.first, fmt::join(views, ", "), what.second));
  }
  if (cached > 0) {
    warnings.push_back(
        fmt::format("{} of {} read measurements were as fast as memory, or had the file in memory. They say "
                    "little about the storage.",
            cached, read));
  }
  if (cut > 0) {
    warnings.push_back(fmt::format(
        "{} measurements skipped a part of the file, because the whole file takes more than {:g} s.", cut,
        mostSeconds));
  }
  return warnings;
}

}  // namespace patchio::probe
