// Memory for many arrays: a pool of segments of huge pages, which later reads reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchio {

struct BufferDeleter
{
  void operator()(void* data) const;
};
/// The uninitialized memory of one array within a segment. A buffer begins at a multiple of 64 bytes, or of
/// 4096 bytes if the array has 64 KiB or more. A segment returns to its pool when all its buffers are freed
/// and no arena uses the segment.
using Buffer = std::unique_ptr<void, BufferDeleter>;

/// Frees memory that Buffer::release() has returned. The function has the signature that
/// vtkAbstractArray::SetArrayFreeFunction() expects.
void FreeBuffer(void* data);

/// Returns another owner of a buffer's memory, which is freed with its last owner.
Buffer ShareBuffer(void* data);

/// The segment that a buffer keeps in use, and the size of the segment in bytes. Buffers of one segment have
/// the same `Segment`.
struct SegmentInUse
{
  const void* Segment = nullptr;
  std::uint64_t Bytes = 0;
};
SegmentInUse SegmentOfBuffer(void* data);

/// Keeps segments for the next read, because page faults take more time than copying when a read fills new
/// memory. Thread-safe. Buffers may outlive the pool.
class MemoryPool
{
public:
  MemoryPool();
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Sets the greatest total size of the used and kept segments, in bytes. 0, the initial value: only the
  /// free memory of the machine limits the size.
  void SetLimit(std::uint64_t bytes);
  std::uint64_t Limit() const;
  /// Sets the greatest total size of unused segments that the pool keeps, in bytes, and frees the segments
  /// beyond this size. The initial size is 0.
  void SetKeptLimit(std::uint64_t bytes);
  /// Returns the size of the unused segments that are kept for the next read, in bytes.
  std::uint64_t KeptBytes() const;
  /// Returns the size of all segments, used and kept, in bytes.
  std::uint64_t TotalBytes() const;
  /// Frees unused segments until their total size is at most `bytes`.
  void Trim(std::uint64_t bytes);
  /// Throws Error if `bytes` more bytes of buffers would exceed the limit or the free memory of the machine.
  /// Kept segments count as free.
  void CheckAvailable(std::uint64_t bytes) const;

private:
  friend class MemoryArena;
  class State;
  std::shared_ptr<State> Shared;
};

/// Allocates the arrays of one read in segments of a pool. The `padding` bytes after each buffer are
/// readable: these bytes belong to other buffers, or to untouched memory after the segment, which takes
/// address space only.
class MemoryArena
{
public:
  /// Prepares the allocation of at most `buffers` buffers with `payload` bytes in total. `padding`: bytes
  /// after each buffer that must be readable. Throws Error if the buffers exceed the pool's limit or the free
  /// memory of the machine.
  MemoryArena(MemoryPool& pool, std::uint64_t payload, std::size_t buffers, std::uint64_t padding = 0);
  ~MemoryArena();
  MemoryArena(const MemoryArena&) = delete;
  MemoryArena& operator=(const MemoryArena&) = delete;

  /// Allocates the next buffer. All buffers together must not exceed `payload` and `buffers`. Throws Error
  /// like the constructor.
  Buffer Allocate(std::size_t bytes);

private:
  friend void FreeBuffer(void* data);
  friend Buffer ShareBuffer(void* data);
  friend SegmentInUse SegmentOfBuffer(void* data);
  struct Segment;
  Segment* MakeSegment(std::uint64_t size);
  static Buffer AllocateFrom(Segment* segment, std::uint64_t bytes);
  static void Unref(Segment* segment);

  std::shared_ptr<MemoryPool::State> Pool;
  Segment* Current = nullptr;
  const std::uint64_t Padding;
  std::uint64_t Remaining;  ///< bytes that may still be allocated, including alignment
};

}  // namespace patchio
