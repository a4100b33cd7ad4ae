#include "Exec/Slab.h"

#include "Support/Error.h"
#include "Support/Memory.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <new>

namespace patchio {
namespace {

constexpr std::size_t Alignment = 64;
constexpr std::size_t HugePage = std::size_t(2) << 20;

constexpr std::size_t RoundUp(std::size_t value, std::size_t to)
{
  return (value + to - 1) / to * to;
}

std::byte* Allocate(std::size_t bytes)
{
  if (bytes > AvailableMemory()) {
    throw Error(
        fmt::format("Reading needs {:.1f} GB of memory on this rank, but only {:.1f} GB are free. Select "
                    "fewer variables or levels, or use more ranks on more machines.",
            bytes * 1e-9, AvailableMemory() * 1e-9));
  }
  const bool huge = bytes >= HugePage;
  void* memory = std::aligned_alloc(huge ? HugePage : Alignment, RoundUp(bytes, huge ? HugePage : Alignment));
  if (!memory) {
    throw Error(fmt::format("{:.1f} GB of memory could not be allocated.", bytes * 1e-9));
  }
  if (huge) {
    ::madvise(memory, RoundUp(bytes, HugePage), MADV_HUGEPAGE);  // a wish; failing costs only speed
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

struct Slab::Block
{
  std::byte* Bytes = nullptr;
  std::size_t Size = 0;
  std::atomic<std::size_t> References{1};
};

Slab::Slab(std::size_t payload, std::size_t slices) : Memory(new Block)
{
  // Before each slice a header line holds the pointer back to the block.
  this->Memory->Size = payload + 2 * Alignment * std::max<std::size_t>(slices, 1);
  try {
    this->Memory->Bytes = Allocate(this->Memory->Size);
  } catch (...) {
    delete this->Memory;
    throw;
  }
}

Slab::~Slab()
{
  Slab::Unref(this->Memory);
}

Slice Slab::Cut(std::size_t bytes)
{
  std::byte* header = this->Memory->Bytes + this->Position;
  this->Position += Alignment + RoundUp(bytes, Alignment);
  assert(this->Position <= this->Memory->Size);
  new (header) Block*(this->Memory);
  ++this->Memory->References;
  return Slice(header + Alignment);
}

void Slab::Unref(Block* block)
{
  if (--block->References == 0) {
    std::free(block->Bytes);
    delete block;
  }
}

void FreeSlice(void* data)
{
  Slab::Unref(*reinterpret_cast<Slab::Block**>(static_cast<std::byte*>(data) - Alignment));
}

void SliceDeleter::operator()(void* data) const
{
  FreeSlice(data);
}

}  // namespace patchio
