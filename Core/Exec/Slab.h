// Memory for many arrays at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace patchio {

struct SliceDeleter
{
  void operator()(void* data) const;
};
/// One array's memory inside a slab, 64-byte aligned. The slab lives until its last slice is gone.
using Slice = std::unique_ptr<void, SliceDeleter>;

/// Frees a slice that was released from its Slice; the signature is what
/// vtkAbstractArray::SetArrayFreeFunction wants.
void FreeSlice(void* data);

/// One large allocation in huge pages that arrays are cut from: page faults, not copying, dominate reading
/// into fresh memory, and an allocation for each array makes them worse.
class Slab
{
public:
  /// Room for slices of `payload` bytes in all. Throws Error when there is not enough memory.
  Slab(std::size_t payload, std::size_t slices);
  /// Drops the slab's own hold; the memory goes when the last slice goes.
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  /// Cuts the next slice. The sum of all must stay within what was asked for.
  Slice Cut(std::size_t bytes);

private:
  friend void FreeSlice(void* data);
  struct Block;
  static void Unref(Block* block);

  Block* Memory;
  std::size_t Position = 0;
};

}  // namespace patchio
