#include "Exec/Slab.h"

#include "TestTools.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>

namespace patchio {
namespace {

bool HoldsOnly(const Slice& slice, std::size_t bytes, unsigned char value)
{
  const auto* begin = static_cast<const unsigned char*>(slice.get());
  return std::all_of(begin, begin + bytes, [value](unsigned char byte) { return byte == value; });
}

/// Cuts slices of the given sizes and fills each completely with its number.
std::vector<Slice> CutAndFill(Slab& slab, const std::vector<std::size_t>& sizes)
{
  std::vector<Slice> slices;
  for (const std::size_t size : sizes) {
    slices.push_back(slab.Cut(size));
    std::memset(slices.back().get(), static_cast<int>(slices.size()), size);
  }
  return slices;
}

// The memory errors that these tests could meet show themselves under AddressSanitizer.
class SlabOf : public ::testing::TestWithParam<std::vector<std::size_t>>
{
protected:
  const std::vector<std::size_t>& Sizes() const { return this->GetParam(); }
  std::size_t Payload() const
  {
    return std::accumulate(this->Sizes().begin(), this->Sizes().end(), std::size_t(0));
  }
};

}  // namespace

TEST_P(SlabOf, GivesAlignedSlicesThatDoNotTouch)
{
  Slab slab(this->Payload(), this->Sizes().size());
  const std::vector<Slice> slices = CutAndFill(slab, this->Sizes());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slices[i].get()) % 64, 0u);
    EXPECT_TRUE(HoldsOnly(slices[i], this->Sizes()[i], static_cast<unsigned char>(i + 1))) << "slice " << i;
  }
}

TEST_P(SlabOf, LeavesSlicesAliveWhenItGoes)
{
  std::vector<Slice> slices;
  {
    Slab slab(this->Payload(), this->Sizes().size());
    slices = CutAndFill(slab, this->Sizes());
  }
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_TRUE(HoldsOnly(slices[i], this->Sizes()[i], static_cast<unsigned char>(i + 1)));
    slices[i].reset();
  }
}

INSTANTIATE_TEST_SUITE_P(All, SlabOf,
    ::testing::Values(std::vector<std::size_t>{}, std::vector<std::size_t>{0}, std::vector<std::size_t>{1},
        std::vector<std::size_t>{64, 64, 64}, std::vector<std::size_t>{1, 63, 65, 0, 127, 4096, 3},
        std::vector<std::size_t>{1 << 20, 5 << 20, 1}, std::vector<std::size_t>(100, 65)));

TEST(Slab, GoesAfterItsSlices)
{
  auto slab = std::make_unique<Slab>(100, 2);
  Slice first = slab->Cut(50);
  first.reset();
  Slice second = slab->Cut(50);
  std::memset(second.get(), 1, 50);
  slab.reset();
  EXPECT_TRUE(HoldsOnly(second, 50, 1));
}

TEST(Slab, TakesBackReleasedSlices)
{
  void* released = nullptr;
  Slice kept;
  {
    Slab slab(16, 2);
    released = slab.Cut(8).release();
    kept = slab.Cut(8);
    std::memset(kept.get(), 9, 8);
  }
  FreeSlice(released);
  EXPECT_TRUE(HoldsOnly(kept, 8, 9));
}

TEST(Slab, TakesBackSlicesFromSeveralThreads)
{
  std::vector<Slice> slices;
  {
    Slab slab(64 * 1000, 1000);
    slices = CutAndFill(slab, std::vector<std::size_t>(1000, 64));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&slices, t] {
      for (std::size_t i = t; i < slices.size(); i += 4) {
        slices[i].reset();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(std::none_of(slices.begin(), slices.end(), [](const Slice& slice) { return bool(slice); }));
}

TEST(Slab, SaysHowMuchMemoryIsMissing)
{
  const std::string message = testing::MessageOf([] { Slab slab(std::size_t(5) << 50, 1); });
  EXPECT_THAT(message, ::testing::HasSubstr("5629499.5 GB"));
  EXPECT_THAT(message, ::testing::HasSubstr("Select fewer variables or levels"));
}

}  // namespace patchio
