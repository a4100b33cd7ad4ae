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
std::vector<Slice> CutAndFill(SlabCutter& slab, const std::vector<std::size_t>& sizes)
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

  SlabPool Pool;
};

}  // namespace

TEST_P(SlabOf, GivesAlignedSlicesThatDoNotTouch)
{
  SlabCutter slab(this->Pool, this->Payload(), this->Sizes().size());
  const std::vector<Slice> slices = CutAndFill(slab, this->Sizes());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::uintptr_t alignment = this->Sizes()[i] >= 65536 ? 4096 : 64;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slices[i].get()) % alignment, 0u);
    EXPECT_TRUE(HoldsOnly(slices[i], this->Sizes()[i], static_cast<unsigned char>(i + 1))) << "slice " << i;
  }
}

TEST_P(SlabOf, LeavesSlicesAliveWhenItGoes)
{
  std::vector<Slice> slices;
  {
    SlabCutter slab(this->Pool, this->Payload(), this->Sizes().size());
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
  SlabPool pool;
  auto slab = std::make_unique<SlabCutter>(pool, 100, 2);
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
    SlabPool pool;
    SlabCutter slab(pool, 16, 2);
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
    SlabPool pool;
    SlabCutter slab(pool, 64 * 1000, 1000);
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
  const std::string message = testing::MessageOf([] {
    SlabPool pool;
    SlabCutter slab(pool, std::uint64_t(5) << 50, 1);
  });
  EXPECT_THAT(message, ::testing::HasSubstr("5.63 PB"));
  EXPECT_THAT(message, ::testing::HasSubstr("Select fewer variables or levels"));
}

namespace {

constexpr std::size_t MiB = std::size_t(1) << 20;

/// Reads nothing, but takes memory as a read of one array does, and gives it back at once.
void TakeAndGiveBack(SlabPool& pool, std::size_t bytes)
{
  SlabCutter(pool, bytes, 1).Cut(bytes);
}

}  // namespace

TEST(SlabPool, KeepsNothingAtFirst)
{
  SlabPool pool;
  TakeAndGiveBack(pool, 3 * MiB);
  EXPECT_EQ(pool.TotalBytes(), 0u);
}

TEST(SlabPool, GivesTheSameMemoryAgain)
{
  SlabPool pool;
  pool.Keep(100 * MiB);
  const void* before = nullptr;
  {
    SlabCutter slab(pool, 30 * MiB, 1);
    before = slab.Cut(30 * MiB).get();
  }
  const std::uint64_t kept = pool.KeptBytes();
  EXPECT_GE(kept, 30 * MiB);
  EXPECT_LE(kept, 30 * MiB + 64 * 1024);
  SlabCutter slab(pool, 25 * MiB, 1);
  const Slice again = slab.Cut(25 * MiB);
  EXPECT_EQ(again.get(), before);
  EXPECT_EQ(pool.KeptBytes(), 0u);
  EXPECT_EQ(pool.TotalBytes(), kept);
}

TEST(SlabPool, DoesNotWasteALargeSlabOnASmallArray)
{
  SlabPool pool;
  pool.Keep(100 * MiB);
  TakeAndGiveBack(pool, 30 * MiB);
  const std::uint64_t kept = pool.KeptBytes();
  SlabCutter slab(pool, MiB, 1);
  const Slice small = slab.Cut(MiB);
  EXPECT_EQ(pool.KeptBytes(), kept);
}

TEST(SlabPool, FreesWhatIsTooMuchToKeep)
{
  // Slabs that are hardly larger than their one array.
  const auto almost = [](std::uint64_t mebibytes, std::uint64_t bytes) {
    return bytes >= mebibytes * MiB && bytes <= mebibytes * MiB + 256 * 1024;
  };
  SlabPool pool;
  pool.Keep(100 * MiB);
  {
    SlabCutter slab(pool, 90 * MiB, 3);
    slab.Cut(10 * MiB);
    slab.Cut(20 * MiB);
    slab.Cut(60 * MiB);
  }
  EXPECT_PRED2(almost, 90, pool.KeptBytes());
  pool.Keep(85 * MiB);
  EXPECT_PRED2(almost, 80, pool.KeptBytes()) << "the smallest goes";
  pool.Keep(0);
  EXPECT_EQ(pool.TotalBytes(), 0u);
}

TEST(SlabPool, KeptMemoryMakesRoomUnderTheLimit)
{
  SlabPool pool(40 * MiB);
  pool.Keep(100 * MiB);
  TakeAndGiveBack(pool, 25 * MiB);
  SlabCutter slab(pool, 39 * MiB, 1);
  const Slice larger = slab.Cut(39 * MiB);
  EXPECT_LE(pool.TotalBytes(), 40 * MiB);
  EXPECT_THAT(testing::MessageOf([&] { SlabCutter(pool, 2 * MiB, 1); }),
      ::testing::HasSubstr("limit is 41.9 MB: 1.05 MB are missing"));
}

TEST(SlabPool, NeverExceedsTheLimitByRounding)
{
  SlabPool pool(100 * MiB);
  const std::size_t odd = 9 * MiB + 1;
  std::vector<Slice> slices;
  SlabCutter slab(pool, 11 * odd, 11);
  for (int i = 0; i < 11; ++i) {
    slices.push_back(slab.Cut(odd));
  }
  EXPECT_LE(pool.TotalBytes(), 100 * MiB);
}

TEST(SlabPool, ALargerSlabServesSmallArraysToo)
{
  SlabPool pool;
  pool.Keep(1000 * MiB);
  TakeAndGiveBack(pool, 70 * MiB);
  std::vector<Slice> slices;
  {
    SlabCutter slab(pool, 120 * MiB, 20);
    slices = CutAndFill(slab, std::vector<std::size_t>(20, 6 * MiB));
  }
  EXPECT_EQ(pool.KeptBytes(), 0u) << "the kept one is in use";
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_TRUE(HoldsOnly(slices[i], 6 * MiB, static_cast<unsigned char>(i + 1)));
    slices[i].reset();
  }
  EXPECT_EQ(pool.KeptBytes(), pool.TotalBytes());
}

TEST(SlabPool, MayGoBeforeItsSlices)
{
  Slice slice;
  {
    SlabPool pool;
    pool.Keep(100 * MiB);
    SlabCutter slab(pool, 4 * MiB, 1);
    slice = slab.Cut(4 * MiB);
  }
  std::memset(slice.get(), 3, 4 * MiB);
  EXPECT_TRUE(HoldsOnly(slice, 4 * MiB, 3));
}

TEST(SlabPool, HasASliceInUseUntilTheLastWhoSharesIt)
{
  SlabPool pool;
  Slice first, second;
  {
    SlabCutter slab(pool, MiB, 1);
    first = slab.Cut(MiB);
  }
  second = ShareSlice(first.get());
  EXPECT_EQ(second.get(), first.get());
  EXPECT_EQ(SlabOfSlice(first.get()).Slab, SlabOfSlice(second.get()).Slab);
  EXPECT_EQ(SlabOfSlice(first.get()).Bytes, pool.TotalBytes());
  std::memset(first.get(), 7, MiB);
  first.reset();
  EXPECT_TRUE(HoldsOnly(second, MiB, 7));
  second.reset();
  EXPECT_EQ(pool.TotalBytes(), 0u);
}

}  // namespace patchio
