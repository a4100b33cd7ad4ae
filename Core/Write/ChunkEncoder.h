// Encodes chunks with filters. The functions of Io/Filters.h decode the chunks.
#pragma once

#include "Catalog/Location.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct libdeflate_compressor;
struct ZSTD_CCtx_s;

namespace patchio::container {

/// A chunk in the form that the file stores.
struct EncodedChunk
{
  std::vector<std::byte> Bytes;
  std::uint32_t SkippedFilters = 0;  ///< filters that were not applied; see Chunk::SkippedFilters
};

/// Shuffles and compresses chunks, one after another. Not thread-safe: each thread needs its own encoder.
class ChunkEncoder
{
public:
  /// Compression levels. HDF5 files store the levels, but readers do not need the levels. Higher levels take
  /// much longer and gain little after shuffling.
  static constexpr int DeflateLevel = 4, ZstdLevel = 3;

  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  /// Shuffles and compresses a chunk. `filter`: Deflate or Zstd. `elementBytes`: size of one value, 1, 2, 4
  /// or 8. `bytes`: size of the chunk. If compression does not make the chunk smaller, the result has the
  /// unchanged values, and both filters are skipped. Throws std::bad_alloc.
  EncodedChunk Encode(
      FilterType filter, std::size_t elementBytes, const std::byte* values, std::size_t bytes);

private:
  std::size_t Compress(FilterType filter, std::byte* to, std::size_t capacity);
  struct Deleter
  {
    void operator()(libdeflate_compressor* compressor) const;
    void operator()(ZSTD_CCtx_s* compressor) const;
  };

  std::unique_ptr<libdeflate_compressor, Deleter> Deflate;
  std::unique_ptr<ZSTD_CCtx_s, Deleter> Zstd;
  std::vector<std::byte> Shuffled, Compressed;
};

}  // namespace patchio::container
