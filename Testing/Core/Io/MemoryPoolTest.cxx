#include "Io/MemoryPool.h"

#include "Base/Bytes.h"
#include "PagesInMemory.h"
#include "TestTools.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>

namespace patchio {
namespace {

bool HoldsOnly(const Buffer& buffer, std::size_t bytes, unsigned char value)
{
  const auto* begin = static_cast<const unsigned char*>(buffer.get());
  return std::all_of(begin, begin + bytes, [value](unsigned char byte) { return byte == value; });
}

/// Takes memory like a read of one array, without reading, and returns the memory at once.
void TakeAndGiveBack(MemoryPool& pool, std::size_t bytes)
{
  MemoryArena(pool, bytes, 1).Allocate(bytes);
}

/// Cuts buffers of the given sizes and fills each completely with its number.
std::vector<Buffer> CutAndFill(MemoryArena& arena, const std::vector<std::size_t>& sizes)
{
  std::vector<Buffer> buffers;
  for (const std::size_t size : sizes) {
    buffers.push_back(arena.Allocate(size));
    std::memset(buffers.back().get(), static_cast<int>(buffers.size()), size);
  }
  return buffers;
}

// AddressSanitizer detects memory errors in these tests.
class SegmentOf : public ::testing::TestWithParam<std::vector<std::size_t>>
{
protected:
  const std::vector<std::size_t>& Sizes() const { return this->GetParam(); }
  std::size_t Payload() const
  {
    return std::accumulate(this->Sizes().begin(), this->Sizes().end(), std::size_t(0));
  }

  MemoryPool Pool;
};

}  // namespace

TEST_P(SegmentOf, GivesAlignedBuffersThatDoNotTouchAndOutliveIt)
{
  auto arena = std::make_unique<MemoryArena>(this->Pool, this->Payload(), this->Sizes().size());
  std::vector<Buffer> buffers = CutAndFill(*arena, this->Sizes());
  arena.reset();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uintptr_t alignment = this->Sizes()[i] >= 65536 ? 4096 : 64;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers[i].get()) % alignment, 0u);
    EXPECT_TRUE(HoldsOnly(buffers[i], this->Sizes()[i], static_cast<unsigned char>(i + 1))) << "buffer " << i;
    buffers[i].reset();
  }
}

INSTANTIATE_TEST_SUITE_P(All, SegmentOf,
    ::testing::Values(std::vector<std::size_t>{}, std::vector<std::size_t>{0}, std::vector<std::size_t>{1},
        std::vector<std::size_t>{64, 64, 64}, std::vector<std::size_t>{1, 63, 65, 0, 127, 4096, 3},
        std::vector<std::size_t>{1 << 20, 5 << 20, 1}, std::vector<std::size_t>(100, 65)));

TEST(Segment, TakesBackReleasedSlicesAfterItsPoolHasGone)
{
  for (const std::size_t size : {std::size_t(8), 4 * MiB}) {
    void* released = nullptr;
    Buffer kept;
    {
      MemoryPool pool;
      pool.SetKeptLimit(100 * MiB);
      MemoryArena arena(pool, 2 * size, 2);
      released = arena.Allocate(size).release();
      kept = arena.Allocate(size);
    }
    FreeBuffer(released);
    std::memset(kept.get(), 9, size);
    EXPECT_TRUE(HoldsOnly(kept, size, 9));
  }
}

TEST(Segment, TakesBackSlicesFromSeveralThreads)
{
  std::vector<Buffer> buffers;
  {
    MemoryPool pool;
    MemoryArena arena(pool, 64 * 1000, 1000);
    buffers = CutAndFill(arena, std::vector<std::size_t>(1000, 64));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&buffers, t] {
      for (std::size_t i = t; i < buffers.size(); i += 4) {
        buffers[i].reset();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(Segment, SaysHowMuchMemoryIsMissing)
{
  const std::string message = testing::MessageOf([] {
    MemoryPool pool;
    MemoryArena arena(pool, std::uint64_t(5) << 50, 1);
  });
  EXPECT_THAT(message, ::testing::HasSubstr("5.63 PB"));
  EXPECT_THAT(message, ::testing::HasSubstr("Select fewer variables or levels"));
}

TEST(MemoryPool, GivesTheSameMemoryAgain)
{
  MemoryPool pool;
  pool.SetKeptLimit(100 * MiB);
  const void* before = nullptr;
  {
    MemoryArena arena(pool, 30 * MiB, 1);
    before = arena.Allocate(30 * MiB).get();
  }
  const std::uint64_t kept = pool.KeptBytes();
  EXPECT_GE(kept, 30 * MiB);
  EXPECT_LE(kept, 30 * MiB + 64 * 1024);
  MemoryArena arena(pool, 25 * MiB, 1);
  const Buffer again = arena.Allocate(25 * MiB);
  EXPECT_EQ(again.get(), before);
  EXPECT_EQ(pool.KeptBytes(), 0u);
  EXPECT_EQ(pool.TotalBytes(), kept);
}

TEST(MemoryPool, DoesNotWasteALargeSlabOnASmallArray)
{
  MemoryPool pool;
  pool.SetKeptLimit(100 * MiB);
  TakeAndGiveBack(pool, 30 * MiB);
  const std::uint64_t kept = pool.KeptBytes();
  MemoryArena arena(pool, MiB, 1);
  const Buffer small = arena.Allocate(MiB);
  EXPECT_EQ(pool.KeptBytes(), kept);
}

TEST(MemoryPool, FreesWhatIsTooMuchToKeep)
{
  // Segments that are only a little larger than their single array.
  const auto almost = [](std::uint64_t mebibytes, std::uint64_t bytes) {
    return bytes >= mebibytes * MiB && bytes <= mebibytes * MiB + 256 * 1024;
  };
  MemoryPool pool;
  pool.SetKeptLimit(100 * MiB);
  {
    MemoryArena arena(pool, 90 * MiB, 3);
    arena.Allocate(10 * MiB);
    arena.Allocate(20 * MiB);
    arena.Allocate(60 * MiB);
  }
  EXPECT_PRED2(almost, 90, pool.KeptBytes());
  pool.SetKeptLimit(85 * MiB);
  EXPECT_PRED2(almost, 80, pool.KeptBytes()) << "the smallest goes";
  pool.SetKeptLimit(0);
  EXPECT_EQ(pool.TotalBytes(), 0u);
}

TEST(MemoryPool, KeptMemoryMakesRoomUnderTheLimit)
{
  MemoryPool pool;
  pool.SetLimit(40 * MiB);
  pool.SetKeptLimit(100 * MiB);
  TakeAndGiveBack(pool, 25 * MiB);
  MemoryArena arena(pool, 39 * MiB, 1);
  const Buffer larger = arena.Allocate(39 * MiB);
  EXPECT_LE(pool.TotalBytes(), 40 * MiB);
  EXPECT_THAT(testing::MessageOf([&] { MemoryArena(pool, 2 * MiB, 1); }),
      ::testing::HasSubstr("exceeds the memory limit of 41.9 MB by 1.05 MB"));
}

TEST(MemoryPool, NeverExceedsTheLimitByRounding)
{
  MemoryPool pool;
  pool.SetLimit(100 * MiB);
  const std::size_t odd = 9 * MiB + 1;
  std::vector<Buffer> buffers;
  MemoryArena arena(pool, 11 * odd, 11);
  for (int i = 0; i < 11; ++i) {
    buffers.push_back(arena.Allocate(odd));
  }
  EXPECT_LE(pool.TotalBytes(), 100 * MiB);
}

TEST(MemoryPool, ALargerSlabServesSmallArraysToo)
{
  MemoryPool pool;
  pool.SetKeptLimit(1000 * MiB);
  TakeAndGiveBack(pool, 70 * MiB);
  std::vector<Buffer> buffers;
  {
    MemoryArena arena(pool, 120 * MiB, 20);
    buffers = CutAndFill(arena, std::vector<std::size_t>(20, 6 * MiB));
  }
  EXPECT_EQ(pool.KeptBytes(), 0u) << "the kept one is in use";
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(HoldsOnly(buffers[i], 6 * MiB, static_cast<unsigned char>(i + 1)));
    buffers[i].reset();
  }
  EXPECT_EQ(pool.KeptBytes(), pool.TotalBytes());
}

class RoomBehind : public ::testing::TestWithParam<std::size_t>
{
};

INSTANTIATE_TEST_SUITE_P(
    All, RoomBehind, ::testing::Values(std::size_t(1), std::size_t(4096), MiB, 7 * MiB, 9 * MiB, 70 * MiB));

TEST_P(RoomBehind, CanBeReadButIsNotTouched)
{
  const std::size_t size = this->GetParam(), room = 3 * MiB;
  MemoryPool pool;
  pool.SetKeptLimit(1000 * MiB);
  for (int again = 0; again < 2; ++again) {  // in new memory, and in reused memory
    std::vector<Buffer> buffers;
    {
      MemoryArena arena(pool, 3 * size, 3, room);
      buffers = CutAndFill(arena, std::vector<std::size_t>(3, size));
    }
    EXPECT_LT(pool.TotalBytes(), 3 * size + 3 * size / 16 + 64 * 1024) << "the room is not counted";
    for (int b = 0; b < 3; ++b) {
      const std::byte* const end = static_cast<std::byte*>(buffers[b].get()) + size;
      const std::size_t touched = testing::TouchedBytes(end, room);
      if (b == 2) {
        EXPECT_LE(touched, 2 * MiB) << "more than the rest of a page";
      }
    }
  }
}

TEST(MemoryPool, HasRoomInKeptSegments)
{
  MemoryPool pool;
  pool.SetKeptLimit(1000 * MiB);
  TakeAndGiveBack(pool, 4 * MiB);
  const std::uint64_t without = pool.KeptBytes();
  Buffer buffer;
  {
    MemoryArena arena(pool, 4 * MiB, 1, MiB);
    buffer = arena.Allocate(4 * MiB);
  }
  testing::TouchedBytes(static_cast<std::byte*>(buffer.get()) + 4 * MiB, MiB);
  EXPECT_EQ(pool.KeptBytes(), without) << "a segment without room does not serve";
}

TEST(MemoryPool, HasABufferInUseUntilItsLastOwnerIsGone)
{
  MemoryPool pool;
  Buffer first, second;
  {
    MemoryArena arena(pool, MiB, 1);
    first = arena.Allocate(MiB);
  }
  second = ShareBuffer(first.get());
  EXPECT_EQ(second.get(), first.get());
  EXPECT_EQ(SegmentOfBuffer(first.get()).Segment, SegmentOfBuffer(second.get()).Segment);
  EXPECT_EQ(SegmentOfBuffer(first.get()).Bytes, pool.TotalBytes());
  std::memset(first.get(), 7, MiB);
  first.reset();
  EXPECT_TRUE(HoldsOnly(second, MiB, 7));
  second.reset();
  EXPECT_EQ(pool.TotalBytes(), 0u);
}

}  // namespace patchio
