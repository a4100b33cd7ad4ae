#include "Plan/ReadPlan.h"

#include "Base/Bytes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace patchio {
namespace {

constexpr std::uint64_t Plenty = std::uint64_t(1) << 40;

struct Case
{
  StorageModel Storage;
  std::uint64_t TotalBytes;
  int Threads;
  RequestLimits Expected;
};

}  // namespace

TEST(Limits, FollowFromTheModel)
{
  const std::vector<Case> cases{
      // The gap is latency x bandwidth. A request is nine times as large, within 1 MiB and 16 MiB.
      {{1e-3, 200e6}, Plenty, 1, {200'000, 1'800'000}}, {{2e-3, 500e6}, Plenty, 16, {1'000'000, 9'000'000}},
      // Small gaps leave requests at 1 MiB, large ones at 16 MiB.
      {{20e-6, 1e9}, Plenty, 8, {20'000, MiB}}, {{0, 1e9}, Plenty, 8, {0, MiB}},
      {{1, 1e9}, Plenty, 8, {16 * MiB, 16 * MiB}},
      // Each thread gets four requests, of at least 64 KiB. Gaps are not larger than requests.
      {{20e-6, 1e9}, 8 * MiB, 4, {20'000, 512 * KiB}}, {{1e-3, 200e6}, 8 * MiB, 64, {64 * KiB, 64 * KiB}},
      {{20e-6, 1e9}, 0, 1, {20'000, 64 * KiB}}};
  for (const Case& one : cases) {
    const RequestLimits limits = LimitsOf(one.Storage, one.TotalBytes, one.Threads);
    const std::string where = fmt::format("{} s, {} B/s, {} bytes, {} threads", one.Storage.Latency,
        one.Storage.Bandwidth, one.TotalBytes, one.Threads);
    EXPECT_EQ(limits.Gap, one.Expected.Gap) << where;
    EXPECT_EQ(limits.Bytes, one.Expected.Bytes) << where;
  }
}

}  // namespace patchio
