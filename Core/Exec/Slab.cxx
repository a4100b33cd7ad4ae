#include "Exec/Slab.h"

#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/Memory.h"

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
/// Small enough that one array that somebody keeps does not hold the memory of all, large enough for huge
/// pages. Slabs begin at multiples of this, so that a slice's address says where its slab begins: a mark
/// before each slice would touch, and so fetch, all pages on the thread that cuts.
constexpr std::size_t SlabBytes = std::size_t(64) << 20;

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t to)
{
  return (value + to - 1) / to * to;
}

/// Large slices begin on a page: what is read straight into them then takes no more pages than it must, which
/// are what the kernel counts and cuts requests by.
constexpr std::size_t Page = 4096;
constexpr std::size_t LargeSlice = 16 * Page;

constexpr std::uint64_t AlignmentOf(std::uint64_t bytes)
{
  return bytes >= LargeSlice ? Page : Alignment;
}

/// The most that a slice takes. Even an empty one takes room, so that it lies within its slab.
constexpr std::uint64_t RoomOf(std::uint64_t bytes)
{
  return RoundUp(std::max<std::uint64_t>(bytes, 1), Alignment) + AlignmentOf(bytes) - Alignment;
}

constexpr std::uint64_t Excess(std::uint64_t value, std::uint64_t limit)
{
  return value - std::min(value, limit);
}

struct Memory
{
  std::byte* Bytes = nullptr;
  std::size_t Size = 0;
};

std::byte* SlabBegin(void* slice)
{
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(slice) / SlabBytes * SlabBytes);
}

Memory Allocate(std::size_t size)
{
  Memory memory;
  memory.Size = RoundUp(size, static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  void* mapped =
      ::mmap(nullptr, memory.Size + SlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(fmt::format("{:.1f} GB of memory could not be allocated.", memory.Size * 1e-9));
  }
  auto* const begin = static_cast<std::byte*>(mapped);
  memory.Bytes = SlabBegin(begin + SlabBytes - 1);
  // What lies before and behind was mapped only to find an address.
  if (memory.Bytes > begin) {
    ::munmap(begin, memory.Bytes - begin);
  }
  ::munmap(memory.Bytes + memory.Size, begin + SlabBytes - memory.Bytes);
  if (size >= HugePage) {
    ::madvise(memory.Bytes, memory.Size, MADV_HUGEPAGE);  // a wish; failing costs only speed
  }
  return memory;
}

void Free(const Memory& memory)
{
  ::munmap(memory.Bytes, memory.Size);
}

}  // namespace

/// What slices and the pool share.
class SlabPool::State
{
public:
  ~State() { this->Trim(0); }

  /// At least `size` bytes. Throws Error beyond the limit.
  Memory Take(std::size_t size)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    const auto best = this->BestKept(size);
    Memory memory;
    if (best != this->Kept.end()) {
      memory = *best;
      this->Kept.erase(best);
      this->KeptSize -= memory.Size;
    } else {
      // What is kept and does not fit gives way where memory is short: Check() has counted it as free.
      this->CheckLimit(size);
      const std::uint64_t most = this->Limit > 0 ? this->Limit : std::numeric_limits<std::uint64_t>::max();
      this->Trim(AvailableMemory() < size ? 0 : Excess(this->KeptSize, Excess(this->TotalSize + size, most)));
      memory = Allocate(size);
      this->TotalSize += memory.Size;
    }
    return memory;
  }

  void GiveBack(const Memory& memory)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Kept.push_back(memory);
    this->KeptSize += memory.Size;
    this->Trim(this->MostKept);
  }

  /// Throws Error when another `bytes` are more than there may be; kept slabs may serve for them.
  void Check(std::uint64_t bytes)
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

  /// Throws Error when slabs of another `bytes` would be more than the limit.
  void CheckLimit(std::uint64_t bytes) const
  {
    const std::uint64_t used = this->TotalSize - this->KeptSize;
    if (this->Limit > 0 && (bytes > this->Limit || used > this->Limit - bytes)) {
      throw Error(fmt::format(
          "Reading needs {} of memory on this rank beside {} in use, but the memory limit is {}: {} "
          "are missing. Raise the limit, select fewer variables or levels, or use more ranks.",
          ByteText(bytes), ByteText(used), ByteText(this->Limit),
          ByteText(static_cast<double>(bytes) + used - this->Limit)));
    }
  }

  /// Frees kept slabs until no more than `most` bytes are kept, the smallest first.
  void Trim(std::uint64_t most)
  {
    if (this->KeptSize <= most) {
      return;
    }
    std::sort(this->Kept.begin(), this->Kept.end(),
        [](const Memory& a, const Memory& b) { return a.Size > b.Size; });
    while (this->KeptSize > most) {
      Free(this->Kept.back());
      this->KeptSize -= this->Kept.back().Size;
      this->TotalSize -= this->Kept.back().Size;
      this->Kept.pop_back();
    }
  }

  mutable std::mutex Mutex;
  std::uint64_t Limit = 0;
  std::uint64_t MostKept = 0;
  std::uint64_t KeptSize = 0;
  std::uint64_t TotalSize = 0;

private:
  /// The smallest kept slab that suffices, and is not much larger.
  std::vector<Memory>::iterator BestKept(std::size_t size)
  {
    auto best = this->Kept.end();
    for (auto it = this->Kept.begin(); it != this->Kept.end(); ++it) {
      if (it->Size >= size && it->Size <= size + size / 4 + std::min(size, HugePage) &&
          (best == this->Kept.end() || it->Size < best->Size)) {
        best = it;
      }
    }
    return best;
  }

  std::vector<Memory> Kept;
};

SlabPool::SlabPool(std::uint64_t limit) : Shared(std::make_shared<State>())
{
  this->Shared->Limit = limit;
}

SlabPool::~SlabPool()
{
  this->Keep(0);
}

void SlabPool::SetLimit(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->Limit = bytes;
}

std::uint64_t SlabPool::Limit() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->Limit;
}

void SlabPool::Keep(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->MostKept = bytes;
  this->Shared->Trim(bytes);
}

std::uint64_t SlabPool::KeptBytes() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->KeptSize;
}

std::uint64_t SlabPool::TotalBytes() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->TotalSize;
}

void SlabPool::Trim(std::uint64_t bytes)
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->Trim(bytes);
}

void SlabPool::Check(std::uint64_t bytes) const
{
  this->Shared->Check(bytes);
}

struct SlabCutter::Slab
{
  Memory Block;
  std::size_t Position = 0;
  std::atomic<std::size_t> References{1};  ///< slices, and the cutter while it cuts from it
  std::shared_ptr<SlabPool::State> Pool;
};

SlabCutter::SlabCutter(SlabPool& pool, std::uint64_t payload, std::size_t slices)
    : Pool(pool.Shared),
      Remaining(payload + payload / (LargeSlice / Page) + Alignment * std::uint64_t(slices))
{
  this->Pool->Check(payload + Alignment * std::uint64_t(slices));
}

SlabCutter::~SlabCutter()
{
  if (this->Current) {
    SlabCutter::Unref(this->Current);
  }
}

Slice SlabCutter::Cut(std::size_t bytes)
{
  const std::uint64_t need = RoomOf(bytes);
  assert(need <= this->Remaining);
  if (need > SlabBytes / 8) {
    // A slab of its own, or the ends of slabs where it does not fit would be lost.
    Slab* own = this->MakeSlab(need);
    this->Remaining -= need;
    Slice slice = SlabCutter::CutFrom(own, bytes);
    SlabCutter::Unref(own);
    return slice;
  }
  if (!this->Current || this->Current->Position + need > std::min(this->Current->Block.Size, SlabBytes)) {
    Slab* next = this->MakeSlab(std::min<std::uint64_t>(this->Remaining, SlabBytes - Alignment));
    if (this->Current) {
      SlabCutter::Unref(this->Current);
    }
    this->Current = next;
  }
  this->Remaining -= need;
  return SlabCutter::CutFrom(this->Current, bytes);
}

SlabCutter::Slab* SlabCutter::MakeSlab(std::uint64_t size)
{
  auto slab = std::make_unique<Slab>();
  slab->Pool = this->Pool;
  slab->Block = this->Pool->Take(size + Alignment);
  new (slab->Block.Bytes) Slab*(slab.get());
  slab->Position = Alignment;
  return slab.release();
}

Slice SlabCutter::CutFrom(Slab* slab, std::uint64_t bytes)
{
  slab->Position = RoundUp(slab->Position, AlignmentOf(bytes));
  std::byte* slice = slab->Block.Bytes + slab->Position;
  slab->Position += RoundUp(std::max<std::uint64_t>(bytes, 1), Alignment);
  ++slab->References;
  return Slice(slice);
}

void SlabCutter::Unref(Slab* slab)
{
  if (--slab->References == 0) {
    slab->Pool->GiveBack(slab->Block);
    delete slab;
  }
}

void FreeSlice(void* data)
{
  SlabCutter::Unref(*reinterpret_cast<SlabCutter::Slab**>(SlabBegin(data)));
}

Slice ShareSlice(void* data)
{
  ++(*reinterpret_cast<SlabCutter::Slab**>(SlabBegin(data)))->References;
  return Slice(data);
}

SlabInUse SlabOfSlice(void* data)
{
  const auto* slab = *reinterpret_cast<SlabCutter::Slab**>(SlabBegin(data));
  return {slab, slab->Block.Size};
}

void SliceDeleter::operator()(void* data) const
{
  FreeSlice(data);
}

}  // namespace patchio
