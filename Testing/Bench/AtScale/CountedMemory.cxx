#include "CountedMemory.h"

#include <malloc.h>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> Now{0}, Most{0};

void* Take(std::size_t bytes)
{
  void* memory = std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) {
    throw std::bad_alloc();
  }
  const std::uint64_t now = Now += ::malloc_usable_size(memory);
  for (std::uint64_t most = Most; most < now && !Most.compare_exchange_weak(most, now);) {
  }
  return memory;
}

void Give(void* memory) noexcept
{
  Now -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes)
{
  return Take(bytes);
}
void* operator new[](std::size_t bytes)
{
  return Take(bytes);
}
void operator delete(void* memory) noexcept
{
  Give(memory);
}
void operator delete[](void* memory) noexcept
{
  Give(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
  Give(memory);
}
void operator delete[](void* memory, std::size_t) noexcept
{
  Give(memory);
}

namespace patchio::atscale {

std::uint64_t BytesInUse()
{
  return Now;
}

std::uint64_t MostBytesInUse()
{
  return Most;
}

void ForgetMostBytes()
{
  Most = Now.load();
}

}  // namespace patchio::atscale
