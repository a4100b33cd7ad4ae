// Does to a chunk what Io/Filters.h undoes.
#pragma once

#include "Catalog/Extent.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct libdeflate_compressor;
struct ZSTD_CCtx_s;

namespace patchio::container {

/// A chunk as it is stored.
struct EncodedChunk
{
  std::vector<std::byte> Bytes;
  std::uint32_t SkippedFilters = 0;  ///< see Chunk
};

/// Compresses chunks, one after another, by Shuffle and what is asked for; a thread has one.
class ChunkEncoder
{
public:
  /// How hard it tries: HDF5's readers get it to know, and need it not. More costs much time, and gains
  /// little behind Shuffle.
  static constexpr int DeflateLevel = 4, ZstdLevel = 3;

  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  /// filter: Deflate or Zstd. What would not become smaller stays as it is, with both filters skipped. Throws
  /// std::bad_alloc.
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
