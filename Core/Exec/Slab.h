// Memory for many arrays: slabs of huge pages that arrays are cut from and that are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchio {

struct SliceDeleter
{
  void operator()(void* data) const;
};
/// One array's memory inside a slab, contents undefined; begins at a multiple of 64 bytes, from 64 KiB on at
/// one of 4096. Its slab lives until the last of the slab's slices is gone, and then goes back to its pool.
using Slice = std::unique_ptr<void, SliceDeleter>;

/// Frees a slice that was released from its Slice; the signature is what
/// vtkAbstractArray::SetArrayFreeFunction wants.
void FreeSlice(void* data);

/// Another hold on the memory of a slice, which lives until the last one is gone.
Slice ShareSlice(void* data);

/// What a slice keeps in use: the slab that it is cut from. Slices of one slab give the same.
struct SlabInUse
{
  const void* Slab = nullptr;
  std::uint64_t Bytes = 0;
};
SlabInUse SlabOfSlice(void* data);

/// Keeps slabs for the next read: page faults, not copying, dominate reading into fresh memory. Thread-safe.
/// Slices may outlive the pool.
class SlabPool
{
public:
  /// limit: bytes that all slabs of this pool may have together, those in use and those kept; 0 for no limit
  /// but what the machine has free.
  explicit SlabPool(std::uint64_t limit = 0);
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  void SetLimit(std::uint64_t bytes);
  std::uint64_t Limit() const;
  /// Keeps no more than this many bytes that nobody uses; what is too much is freed, now and later. 0 at
  /// first.
  void Keep(std::uint64_t bytes);
  /// Bytes that are kept now, for the next read to use.
  std::uint64_t KeptBytes() const;
  /// Bytes of all slabs, used or kept.
  std::uint64_t TotalBytes() const;
  /// Frees some of what is kept now, so that no more than this many bytes of it remain.
  void Trim(std::uint64_t bytes);
  /// Throws Error when slices of `bytes` more exceed the limit or what the machine has free; kept slabs may
  /// serve for them.
  void Check(std::uint64_t bytes) const;

private:
  friend class SlabCutter;
  class State;
  std::shared_ptr<State> Shared;
};

/// Cuts the arrays of one read out of slabs of a pool.
class SlabCutter
{
public:
  /// payload, slices: bytes and number of all slices that will be cut. Throws Error when the pool's limit or
  /// the machine's free memory does not suffice.
  SlabCutter(SlabPool& pool, std::uint64_t payload, std::size_t slices);
  ~SlabCutter();
  SlabCutter(const SlabCutter&) = delete;
  SlabCutter& operator=(const SlabCutter&) = delete;

  /// Cuts the next slice. The sum of all must stay within what was asked for. Throws Error like the
  /// constructor.
  Slice Cut(std::size_t bytes);

private:
  friend void FreeSlice(void* data);
  friend Slice ShareSlice(void* data);
  friend SlabInUse SlabOfSlice(void* data);
  struct Slab;
  Slab* MakeSlab(std::uint64_t size);
  static Slice CutFrom(Slab* slab, std::uint64_t bytes);
  static void Unref(Slab* slab);

  std::shared_ptr<SlabPool::State> Pool;
  Slab* Current = nullptr;
  std::uint64_t Remaining;  ///< bytes that are still to be cut, headers included
};

}  // namespace patchio
