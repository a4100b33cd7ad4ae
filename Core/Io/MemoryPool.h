// Memory for many arrays: segments of huge pages that arrays are cut from and that are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchio {

struct BufferDeleter
{
  void operator()(void* data) const;
};
/// One array's memory inside a segment, contents undefined; begins at a multiple of 64 bytes, from 64 KiB on
/// at one of 4096. Its segment lives until the last of the segment's buffers is gone, and then goes back to
/// its pool.
using Buffer = std::unique_ptr<void, BufferDeleter>;

/// Frees a buffer that was released from its Buffer; the signature is what
/// vtkAbstractArray::SetArrayFreeFunction wants.
void FreeBuffer(void* data);

/// Another owner of the memory of a buffer, which lives until the last owner is gone.
Buffer ShareBuffer(void* data);

/// What a buffer keeps in use: the segment that it is cut from, the same for all buffers of a segment.
struct SegmentInUse
{
  const void* Segment = nullptr;
  std::uint64_t Bytes = 0;
};
SegmentInUse SegmentOfBuffer(void* data);

/// Keeps segments for the next read: page faults, not copying, dominate reading into fresh memory.
/// Thread-safe. Buffers may outlive the pool.
class MemoryPool
{
public:
  /// limit: bytes that all segments of this pool may have together, those in use and those kept; 0 for no
  /// limit but what the machine has free.
  explicit MemoryPool(std::uint64_t limit = 0);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  void SetLimit(std::uint64_t bytes);
  std::uint64_t Limit() const;
  /// Keeps at most so many bytes of unused segments, and frees the rest, now and later. 0 at first.
  void Keep(std::uint64_t bytes);
  /// Bytes that are kept now, for the next read to use.
  std::uint64_t KeptBytes() const;
  /// Bytes of all segments, used or kept.
  std::uint64_t TotalBytes() const;
  /// Frees unused segments now, until they have at most so many bytes.
  void Trim(std::uint64_t bytes);
  /// Throws Error when buffers of `bytes` more exceed the limit or what the machine has free; kept segments
  /// may serve for them.
  void Check(std::uint64_t bytes) const;

private:
  friend class MemoryArena;
  class State;
  std::shared_ptr<State> Shared;
};

/// Cuts the arrays of one read out of segments of a pool. Behind each buffer `room` bytes can be read: other
/// buffers, or memory behind the segment that nothing has touched, which costs addresses only and is not
/// counted.
class MemoryArena
{
public:
  /// payload, buffers: bytes and number of all buffers that will be cut. room: bytes behind each buffer that
  /// can be read. Throws Error when the pool's limit or the machine's free memory does not suffice.
  MemoryArena(MemoryPool& pool, std::uint64_t payload, std::size_t buffers, std::uint64_t room = 0);
  ~MemoryArena();
  MemoryArena(const MemoryArena&) = delete;
  MemoryArena& operator=(const MemoryArena&) = delete;

  /// Cuts the next buffer. The sum of all must stay within what was asked for. Throws Error like the
  /// constructor.
  Buffer Cut(std::size_t bytes);

private:
  friend void FreeBuffer(void* data);
  friend Buffer ShareBuffer(void* data);
  friend SegmentInUse SegmentOfBuffer(void* data);
  struct Segment;
  Segment* MakeSegment(std::uint64_t size);
  static Buffer CutFrom(Segment* segment, std::uint64_t bytes);
  static void Unref(Segment* segment);

  std::shared_ptr<MemoryPool::State> Pool;
  Segment* Current = nullptr;
  const std::uint64_t Room;
  std::uint64_t Remaining;  ///< bytes that are still to be cut, headers included
};

}  // namespace patchio
