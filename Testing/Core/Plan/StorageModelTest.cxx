#include "Plan/ReadPlan.h"

#include "Base/Bytes.h"

#include <gtest/gtest.h>

#include <ostream>

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

std::ostream& operator<<(std::ostream& out, const Case& c)
{
  return out << c.Storage.Latency << " s, " << c.Storage.Bandwidth << " B/s, " << c.TotalBytes << " bytes, "
             << c.Threads << " threads";
}

class Limits : public ::testing::TestWithParam<Case>
{
};

}  // namespace

TEST_P(Limits, FollowFromTheModel)
{
  const Case& c = this->GetParam();
  const RequestLimits limits = LimitsOf(c.Storage, c.TotalBytes, c.Threads);
  EXPECT_EQ(limits.Gap, c.Expected.Gap);
  EXPECT_EQ(limits.Bytes, c.Expected.Bytes);
}

INSTANTIATE_TEST_SUITE_P(Table, Limits,
    ::testing::Values(
        // The gap is latency x bandwidth. A request is nine times as large, within 1 MiB and 16 MiB.
        Case{{1e-3, 200e6}, Plenty, 1, {200'000, 1'800'000}},
        Case{{2e-3, 500e6}, Plenty, 16, {1'000'000, 9'000'000}},
        // Small gaps leave requests at 1 MiB, large ones at 16 MiB.
        Case{{20e-6, 1e9}, Plenty, 8, {20'000, MiB}}, Case{{0, 1e9}, Plenty, 8, {0, MiB}},
        Case{{1, 1e9}, Plenty, 8, {16 * MiB, 16 * MiB}},
        // Each thread gets four requests, of at least 64 KiB. Gaps are not larger than requests.
        Case{{20e-6, 1e9}, 8 * MiB, 4, {20'000, 512 * KiB}},
        Case{{1e-3, 200e6}, 8 * MiB, 64, {64 * KiB, 64 * KiB}},
        Case{{20e-6, 1e9}, 0, 1, {20'000, 64 * KiB}}));

}  // namespace patchio
