// Undoes what the HDF5 library does to a chunk before it stores it. Pure functions on memory.
#pragma once

#include "Catalog/Extent.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

struct libdeflate_decompressor;
struct ZSTD_DCtx_s;

namespace patchio {

/// Undoes the filters of chunks, one after another; a thread has one. It keeps its memory: for each of its
/// buffers as much as the largest chunk needed, plain or as stored.
class ChunkDecoder
{
public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  /// The values of a chunk, in the stored byte order: `chunkBytes` bytes, on any address. They are valid
  /// until the next call, and lie in `stored` when no filter changes anything.
  ///
  /// filters: in the order in which they were applied. skipped: bit i set when filter i was left out.
  /// elementBytes: of the values.
  /// chunkBytes: as ChunkBytes() says; memory for that many is taken only when `stored` can hold as much.
  /// Throws std::bad_alloc when that is more than there is, and Error when the bytes are damaged or yield
  /// more or less than `chunkBytes`; it says what was found, as a phrase for FileError().
  const std::byte* Undo(const std::array<FilterKind, ChunkedArray::MaximumFilters>& filters,
      std::uint32_t skipped, std::size_t elementBytes, const std::byte* stored, std::size_t storedBytes,
      std::size_t chunkBytes);

  /// The same straight to `values`, where Deflate or Zstd is the only filter; false, with nothing done, where
  /// it is not.
  bool InflateTo(const std::array<FilterKind, ChunkedArray::MaximumFilters>& filters, std::uint32_t skipped,
      const std::byte* stored, std::size_t storedBytes, std::byte* values, std::size_t chunkBytes);

  /// Gives back the memory of buffers with more than `most` bytes. The values that Undo() returned are no
  /// longer valid.
  void Trim(std::size_t most);

private:
  /// Memory that grows and is not filled with anything.
  struct Buffer
  {
    std::unique_ptr<std::byte[]> Memory;
    std::size_t Bytes = 0;

    std::byte* Room(std::size_t bytes);
  };
  /// What the filters undone so far have left.
  struct Span
  {
    const std::byte* Data;
    std::size_t Bytes;
  };
  struct CloseDecompressor
  {
    void operator()(libdeflate_decompressor* decompressor) const;
    void operator()(ZSTD_DCtx_s* decompressor) const;
  };

  std::byte* OtherRoom(const Span& data, std::size_t bytes);
  Span Inflate(FilterKind kind, const Span& data, std::size_t chunkBytes);
  std::size_t InflateInto(
      FilterKind kind, const Span& data, std::byte* to, std::size_t capacity, std::size_t chunkBytes);
  Span Unshuffle(const Span& data, std::size_t elementBytes);
  static Span CheckSum(const Span& data);

  std::unique_ptr<libdeflate_decompressor, CloseDecompressor> Decompressor;
  std::unique_ptr<ZSTD_DCtx_s, CloseDecompressor> ZstdDecompressor;  ///< made when it is needed
  std::array<Buffer, 2> Plain;
};

/// HDF5's Fletcher32 checksum.
std::uint32_t Fletcher32(const std::byte* data, std::size_t bytes);

/// Brings bytes of `elementBytes` planes back together to elements: `to` gets the first bytes
/// of all planes, then all second bytes, ...; trailing bytes that are no whole element stay last. The two
/// must not overlap.
void UnshuffleBytes(const std::byte* from, std::size_t bytes, std::size_t elementBytes, std::byte* to);

}  // namespace patchio
