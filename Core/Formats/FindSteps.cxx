#include "Formats/FindSteps.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fs = std::filesystem;

namespace patchio {

TimeStep HeadOf(const std::string& path, const SeriesOptions& options, ReadHead read)
{
  const auto known = options.KnownHead ? options.KnownHead(path) : std::nullopt;
  return known ? *known : read(path);
}

bool AddStep(
    const char* noun, const std::string& path, const SeriesOptions& options, ReadHead read, Series& series)
{
  try {
    series.Steps.push_back(HeadOf(path, options, read));
    return true;
  } catch (const Error& error) {
    series.Warnings.push_back(fmt::format("Skipping a {}. {}", noun, error.what()));
    return false;
  }
}

void SortSteps(Series& series)
{
  std::stable_sort(series.Steps.begin(), series.Steps.end(),
      [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
}

std::size_t StepAtTime(const std::vector<double>& times, double time)
{
  assert(!times.empty());
  if (std::isnan(time)) {
    return 0;
  }
  const auto after = std::upper_bound(times.begin(), times.end(), time);
  if (after == times.begin()) {
    return 0;
  }
  const std::size_t last = static_cast<std::size_t>(after - times.begin()) - 1;
  if (after == times.end()) {
    return last;
  }
  // Users often type times, or copy them from rounded text.
  const double rounding = std::min(1e-9 * (times.back() - times.front()), 0.5 * (*after - times[last]));
  return *after - time < rounding ? last + 1 : last;
}

}  // namespace patchio
