// The encoding of chunks with filters: the inverse of Io/Filters.h.
#pragma once

#include "Catalog/Location.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct libdeflate_compressor;
struct ZSTD_CCtx_s;

namespace patchio::container {

/// A chunk in the form in which it is stored.
struct EncodedChunk
{
  std::vector<std::byte> Bytes;
  std::uint32_t SkippedFilters = 0;  ///< see Chunk
};

/// Shuffles and compresses chunks, one after another. Not thread-safe: each thread needs its own encoder.
class ChunkEncoder
{
public:
  /// Compression levels. HDF5 files store them, but readers do not need them. Higher levels take much longer
  /// and gain little after shuffling.
  static constexpr int DeflateLevel = 4, ZstdLevel = 3;

  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  /// Encodes a chunk. `filter`: Deflate or Zstd. If compression would not make the chunk smaller, the chunk
  /// stays unchanged, with both filters skipped. Throws std::bad_alloc.
  EncodedChunk Encode(
      FilterKind filter, std::size_t elementBytes, const std::byte* values, std::size_t bytes);

private:
  std::size_t Compress(FilterKind filter, std::byte* to, std::size_t room);
  struct Close
  {
    void operator()(libdeflate_compressor* compressor) const;
    void operator()(ZSTD_CCtx_s* compressor) const;
  };

  std::unique_ptr<libdeflate_compressor, Close> Deflate;
  std::unique_ptr<ZSTD_CCtx_s, Close> Zstd;
  std::vector<std::byte> Shuffled, Compressed;
};

}  // namespace patchio::container
