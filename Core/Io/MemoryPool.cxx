#include "Io/MemoryPool.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cassert>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace patchio {
namespace {

constexpr std::size_t Alignment = 64;
constexpr std::size_t HugePage = std::size_t(2) << 20;
/// Size of a segment: small enough that one array in use does not keep the memory of all other arrays, large
/// enough for huge pages. Segments begin at multiples of this size, so that the address of a buffer tells the
/// beginning of its segment. A header before each buffer would cause page faults on the thread that allocates
/// the buffers.
constexpr std::size_t SegmentBytes = std::size_t(64) << 20;

/// Large buffers begin on a page boundary. Requests that read directly into a buffer then cover as few pages
/// as possible; the kernel splits requests that cover many pages.
constexpr std::size_t Page = 4096;
constexpr std::size_t LargeBuffer = 16 * Page;

constexpr std::uint64_t AlignmentOf(std::uint64_t bytes)
{
  return bytes >= LargeBuffer ? Page : Alignment;
}

/// Returns the greatest number of bytes that a buffer takes, including alignment. An empty buffer takes
/// space, too, so that it lies within its segment.
constexpr std::uint64_t AlignedSize(std::uint64_t bytes)
{
  return RoundUp(std::max<std::uint64_t>(bytes, 1), Alignment) + AlignmentOf(bytes) - Alignment;
}

constexpr std::uint64_t Excess(std::uint64_t value, std::uint64_t limit)
{
  return value - std::min(value, limit);
}

struct Memory
{
  std::byte* Data = nullptr;
  std::size_t Size = 0;
  std::size_t Padding = 0;  ///< mapped bytes after Size, which are only read
};

std::byte* SegmentBegin(void* buffer)
{
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) / SegmentBytes * SegmentBytes);
}

Memory MapMemory(std::size_t size, std::size_t padding)
{
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Memory memory;
  memory.Size = RoundUp(size, page);
  // One eighth suffices for most blocks. With this padding, a kept segment can also serve reads that request
  // slightly more padding.
  memory.Padding = RoundUp(std::max(padding, padding > 0 ? memory.Size / 8 : 0), page);
  const std::size_t whole = memory.Size + memory.Padding;
  void* mapped =
      ::mmap(nullptr, whole + SegmentBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(
        fmt::format("Allocating {} of memory failed. Select fewer variables or levels, or use more ranks on "
                    "more machines.",
            ByteText(static_cast<double>(memory.Size))));
  }
  auto* const begin = static_cast<std::byte*>(mapped);
  memory.Data = SegmentBegin(begin + SegmentBytes - 1);
  // The memory before and after the segment was mapped only to find an aligned address.
  if (memory.Data > begin) {
    ::munmap(begin, memory.Data - begin);
  }
  ::munmap(memory.Data + whole, begin + SegmentBytes - memory.Data);
  if (size >= HugePage) {
    ::madvise(memory.Data, memory.Size, MADV_HUGEPAGE);  // a failure only costs speed
  }
  return memory;
}

void UnmapMemory(const Memory& memory)
{
  ::munmap(memory.Data, memory.Size + memory.Padding);
}

}  // namespace

/// The state shared by the pool and its buffers.
class MemoryPool::State
{
public:
  ~State() { this->Trim(0); }

  /// Returns at least `size` bytes, followed by `padding` bytes. Throws Error if the memory would exceed the
  /// limit or cannot be mapped.
  Memory Acquire(std::size_t size, std::size_t padding)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    const auto best = this->BestKept(size, padding);
    Memory memory;
    if (best != this->Kept.end()) {
      memory = *best;
      this->Kept.erase(best);
      this->KeptSize -= memory.Size;
    } else {
      // If memory is short, unused segments that do not fit are freed, because CheckAvailable() counted them
      // as free.
      this->CheckLimit(size);
      const std::uint64_t most = this->Limit > 0 ? this->Limit : std::numeric_limits<std::uint64_t>::max();
      this->Trim(AvailableMemory() < size ? 0 : Excess(this->KeptSize, Excess(this->TotalSize + size, most)));
      memory = MapMemory(size, padding);
      this->TotalSize += memory.Size;
    }
    return memory;
  }

  void Release(const Memory& memory)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Kept.push_back(memory);
    this->KeptSize += memory.Size;
    this->Trim(this->KeptLimit);
  }

  /// Throws Error if `bytes` more bytes exceed the limit or the free memory. Kept segments count as free.
  void CheckAvailable(std::uint64_t bytes)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->CheckLimit(bytes);
    const std::uint64_t available = AvailableMemory();
    const std::uint64_t free = available > std::numeric_limits<std::uint64_t>::max() - this->KeptSize
                                   ? available
                                   : available + this->KeptSize;
    if (bytes > free) {
      throw Error(
          fmt::format("Reading needs {} of memory on this rank, but only {} are free. Select fewer variables "
                      "or levels, or use more ranks on more machines.",
              ByteText(bytes), ByteText(free)));
    }
  }

  /// Throws Error if segments with `bytes` more bytes exceed the limit.
  void CheckLimit(std::uint64_t bytes) const
  {
    const std::uint64_t used = this->TotalSize - this->KeptSize;
    if (this->Limit > 0 && (bytes > this->Limit || used > this->Limit - bytes)) {
      throw Error(fmt::format(
          "Reading needs {} of memory on this rank in addition to {} in use, which exceeds the memory limit "
          "of {} by {}. Raise Memory Limit, select fewer variables or levels, or use more ranks.",
          ByteText(bytes), ByteText(used), ByteText(this->Limit),
          ByteText(static_cast<double>(bytes) + used - this->Limit)));
    }
  }

  /// Frees kept segments, smallest first, until at most `most` bytes are kept.
  void Trim(std::uint64_t most)
  {
    if (this->KeptSize <= most) {
      return;
    }
    std::sort(this->Kept.begin(), this->Kept.end(),
        [](const Memory& a, const Memory& b) { return a.Size > b.Size; });
    while (this->KeptSize > most) {
      UnmapMemory(this->Kept.back());
      this->KeptSize -= this->Kept.back().Size;
      this->TotalSize -= this->Kept.back().Size;
      this->Kept.pop_back();
    }
  }

  mutable std::mutex Mutex;
  std::uint64_t Limit = 0;
  std::uint64_t KeptLimit = 0;
  std::uint64_t KeptSize = 0;
  std::uint64_t TotalSize = 0;

private:
  /// Returns the smallest kept segment that is large enough but not much larger than needed, or Kept.end().
  std::vector<Memory>::iterator BestKept(std::size_t size, std::size_t padding)
  {
    auto best = this->Kept.end();
    for (auto it = this->Kept.begin(); it != this->Kept.end(); ++it) {
      if (it->Padding >= padding && it->Size >= size &&
          it->Size <= size + size / 4 + std::min(size, HugePage) &&
          (best == this->Kept.end() || it->Size < best->Size)) {
        best = it;
      }
    }
    return best;
  }

  std::vector<Memory> Kept;
};

MemoryPool::MemoryPool() : Shared(std::make_shared<State>()) {}

MemoryPool::~MemoryPool()
{
  this->SetKeptLimit(0);
}

void MemoryPool::SetLimit(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->Limit = bytes;
}

std::uint64_t MemoryPool::Limit() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->Limit;
}

void MemoryPool::SetKeptLimit(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->KeptLimit = bytes;
  this->Shared->Trim(bytes);
}

std::uint64_t MemoryPool::KeptBytes() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->KeptSize;
}

std::uint64_t MemoryPool::TotalBytes() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->TotalSize;
}

void MemoryPool::Trim(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->Trim(bytes);
}

void MemoryPool::CheckAvailable(std::uint64_t bytes) const
{
  this->Shared->CheckAvailable(bytes);
}

struct MemoryArena::Segment
{
  Memory Mapped;
  std::size_t Position = 0;
  std::atomic<std::size_t> References{1};  ///< buffers, plus 1 while the arena cuts from the segment
  std::shared_ptr<MemoryPool::State> Pool;
};

MemoryArena::MemoryArena(MemoryPool& pool, std::uint64_t payload, std::size_t buffers, std::uint64_t padding)
    : Pool(pool.Shared),
      Padding(padding),
      Remaining(payload + payload / (LargeBuffer / Page) + Alignment * std::uint64_t(buffers))
{
  this->Pool->CheckAvailable(payload + Alignment * std::uint64_t(buffers));
}

MemoryArena::~MemoryArena()
{
  if (this->Current) {
    MemoryArena::Unref(this->Current);
  }
}

Buffer MemoryArena::Allocate(std::size_t bytes)
{
  const std::uint64_t need = AlignedSize(bytes);
  assert(need <= this->Remaining);
  if (need > SegmentBytes / 8) {
    // A large buffer gets a segment of its own; otherwise the ends of segments in which it does not fit would
    // be wasted.
    Segment* own = this->MakeSegment(need);
    this->Remaining -= need;
    Buffer buffer = MemoryArena::AllocateFrom(own, bytes);
    MemoryArena::Unref(own);
    return buffer;
  }
  if (!this->Current || this->Current->Position + need > std::min(this->Current->Mapped.Size, SegmentBytes)) {
    Segment* next = this->MakeSegment(std::min<std::uint64_t>(this->Remaining, SegmentBytes - Alignment));
    if (this->Current) {
      MemoryArena::Unref(this->Current);
    }
    this->Current = next;
  }
  this->Remaining -= need;
  return MemoryArena::AllocateFrom(this->Current, bytes);
}

MemoryArena::Segment* MemoryArena::MakeSegment(std::uint64_t size)
{
  auto segment = std::make_unique<Segment>();
  segment->Pool = this->Pool;
  segment->Mapped = this->Pool->Acquire(size + Alignment, this->Padding);
  new (segment->Mapped.Data) Segment*(segment.get());
  segment->Position = Alignment;
  return segment.release();
}

Buffer MemoryArena::AllocateFrom(Segment* segment, std::uint64_t bytes)
{
  segment->Position = RoundUp(segment->Position, AlignmentOf(bytes));
  std::byte* buffer = segment->Mapped.Data + segment->Position;
  segment->Position += RoundUp(std::max<std::uint64_t>(bytes, 1), Alignment);
  ++segment->References;
  return Buffer(buffer);
}

void MemoryArena::Unref(Segment* segment)
{
  if (--segment->References == 0) {
    segment->Pool->Release(segment->Mapped);
    delete segment;
  }
}

void FreeBuffer(void* data)
{
  MemoryArena::Unref(*reinterpret_cast<MemoryArena::Segment**>(SegmentBegin(data)));
}

Buffer ShareBuffer(void* data)
{
  ++(*reinterpret_cast<MemoryArena::Segment**>(SegmentBegin(data)))->References;
  return Buffer(data);
}

SegmentInUse SegmentOfBuffer(void* data)
{
  const auto* segment = *reinterpret_cast<MemoryArena::Segment**>(SegmentBegin(data));
  return {segment, segment->Mapped.Size};
}

void BufferDeleter::operator()(void* data) const
{
  FreeBuffer(data);
}

}  // namespace patchio
