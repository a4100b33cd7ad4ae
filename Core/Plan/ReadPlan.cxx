#include "Plan/ReadPlan.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace patchio {

std::vector<std::size_t> PlanReads(const LocationTable& table)
{
  using Key = std::tuple<int, std::uint64_t, std::size_t>;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < table.Locations.size(); ++i) {
    const Location& location = table.Locations[i];
    if (location.Kind == Encoding::Absent || location.Kind == Encoding::Missing) {
      continue;
    }
    if (location.Count == 0) {
      keys.emplace_back(std::numeric_limits<int>::max(), 0, i);
      continue;
    }
    const Extent& first = table.Extents[location.First];
    keys.emplace_back(first.File, first.Offset, i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::size_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) {
    order.push_back(std::get<2>(key));
  }
  return order;
}

}  // namespace patchio
