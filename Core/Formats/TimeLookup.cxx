#include "Formats/TimeLookup.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace patchio {

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
