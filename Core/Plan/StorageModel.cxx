#include "Plan/StorageModel.h"

#include <algorithm>

namespace patchio {

RequestLimits LimitsOf(const StorageModel& storage, std::uint64_t totalBytes, int threads)
{
  constexpr double share = 0.9;
  constexpr double least = 1 << 20;
  constexpr double most = 16 << 20;
  constexpr std::uint64_t leastOfThread = 64 << 10;
  constexpr std::uint64_t requestsOfThread = 4;

  const double gap = std::clamp(storage.Latency * storage.Bandwidth, 0.0, most);
  const double bytes = std::clamp(gap * share / (1 - share), least, most);
  const std::uint64_t fair =
      totalBytes / (requestsOfThread * static_cast<std::uint64_t>(std::max(threads, 1)));
  RequestLimits limits;
  limits.Bytes = std::min(static_cast<std::uint64_t>(bytes), std::max(fair, leastOfThread));
  limits.Gap = std::min(static_cast<std::uint64_t>(gap), limits.Bytes);
  return limits;
}

}  // namespace patchio
