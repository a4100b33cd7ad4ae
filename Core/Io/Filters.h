// The filters of HDF5 chunks (compression, shuffle, checksums), reversed as chunks are read. The code
// accesses no files.
#pragma once

#include "Catalog/Location.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

struct libdeflate_decompressor;
struct ZSTD_DCtx_s;

namespace patchio {

/// Memory that only grows and is not initialized.
struct ScratchMemory
{
  std::unique_ptr<std::byte[]> Memory;
  std::size_t Bytes = 0;

  /// Returns at least `bytes` bytes, valid until the next call. Their contents are unspecified.
  std::byte* Reserve(std::size_t bytes);
};

/// Reverses the filters of chunks. Not thread-safe: each thread needs its own decoder. The buffers grow to
/// the size that the largest chunk needs, and keep this memory until Trim().
class ChunkDecoder
{
public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  /// Returns the values of a chunk, `chunkBytes` bytes in the stored byte order, at any alignment. The values
  /// are valid until the next call, and lie in `stored` if no filter changes the bytes.
  ///
  /// `filters`: filters in the order in which the writer applied them. `skipped`: bit i is set if filter i
  /// was not applied. `elementBytes`: size of a value. `chunkBytes`: see ChunkBytes(); this memory is
  /// allocated only if `stored` can yield as many bytes. Throws std::bad_alloc if memory runs out, and Error
  /// if the bytes are damaged or yield more or fewer than `chunkBytes` bytes; the message is a phrase for the
  /// parameter `found` of FileError().
  const std::byte* Decode(const std::array<FilterType, ChunkedArray::MaximumFilters>& filters,
      std::uint32_t skipped, std::size_t elementBytes, const std::byte* stored, std::size_t storedBytes,
      std::size_t chunkBytes);

  /// Decompresses a chunk directly to `values` if Deflate or Zstd is its only filter. Otherwise does nothing
  /// and returns false. Throws like Decode().
  bool DecompressTo(const std::array<FilterType, ChunkedArray::MaximumFilters>& filters,
      std::uint32_t skipped, const std::byte* stored, std::size_t storedBytes, std::byte* values,
      std::size_t chunkBytes);

  /// Frees buffers with more than `most` bytes. The values that Decode() returned become invalid.
  void Trim(std::size_t most);

private:
  /// The bytes of a chunk after the reversal of some filters.
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

  std::byte* OtherBuffer(const Span& data, std::size_t bytes);
  Span Decompress(FilterType kind, const Span& data, std::size_t chunkBytes);
  std::size_t DecompressData(
      FilterType kind, const Span& data, std::byte* to, std::size_t capacity, std::size_t chunkBytes);
  Span Unshuffle(const Span& data, std::size_t elementBytes);
  static Span VerifyChecksum(const Span& data);

  std::unique_ptr<libdeflate_decompressor, CloseDecompressor> Decompressor;
  std::unique_ptr<ZSTD_DCtx_s, CloseDecompressor> ZstdDecompressor;  ///< created when first used
  std::array<ScratchMemory, 2> Buffers;
};

/// Returns HDF5's Fletcher32 checksum.
std::uint32_t Fletcher32(const std::byte* data, std::size_t bytes);

/// Reverses the Shuffle filter: `from` has the first bytes of all elements, then all second bytes, and so on;
/// `to` gets the elements. Trailing bytes that do not fill an element stay last. `from` and `to` must not
/// overlap.
void UnshuffleBytes(const std::byte* from, std::size_t bytes, std::size_t elementBytes, std::byte* to);

}  // namespace patchio
