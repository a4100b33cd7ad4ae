#include "Write/ChunkEncoder.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <new>

namespace patchio::container {
namespace {

/// Stores the first bytes of all elements in `to`, then the second bytes of all elements, and so on.
template <std::size_t ElementBytes>
void ShuffleBytes(const std::byte* values, std::size_t count, std::byte* to)
{
  for (std::size_t b = 0; b < ElementBytes; ++b) {
    for (std::size_t i = 0; i < count; ++i) {
      to[b * count + i] = values[i * ElementBytes + b];
    }
  }
}

}  // namespace

void ChunkEncoder::Deleter::operator()(libdeflate_compressor* compressor) const
{
  libdeflate_free_compressor(compressor);
}

void ChunkEncoder::Deleter::operator()(ZSTD_CCtx_s* compressor) const
{
  ZSTD_freeCCtx(compressor);
}

ChunkEncoder::ChunkEncoder() : Deflate(libdeflate_alloc_compressor(DeflateLevel)), Zstd(ZSTD_createCCtx())
{
  if (!this->Deflate || !this->Zstd) {
    throw std::bad_alloc();
  }
  ZSTD_CCtx_setParameter(this->Zstd.get(), ZSTD_c_compressionLevel, ZstdLevel);
  ZSTD_CCtx_setParameter(
      this->Zstd.get(), ZSTD_c_checksumFlag, 1);  // adds a checksum, which zlib streams always contain
}

ChunkEncoder::~ChunkEncoder() = default;

EncodedChunk ChunkEncoder::Encode(
    FilterType filter, std::size_t elementBytes, const std::byte* values, std::size_t bytes)
{
  assert(bytes % elementBytes == 0);
  this->Shuffled.resize(bytes);
  const std::size_t count = bytes / elementBytes;
  if (elementBytes == 2) {
    ShuffleBytes<2>(values, count, this->Shuffled.data());
  } else if (elementBytes == 4) {
    ShuffleBytes<4>(values, count, this->Shuffled.data());
  } else if (elementBytes == 8) {
    ShuffleBytes<8>(values, count, this->Shuffled.data());
  } else {
    std::copy_n(values, bytes, this->Shuffled.data());
  }
  this->Compressed.resize(
      std::max(libdeflate_zlib_compress_bound(this->Deflate.get(), bytes), ZSTD_compressBound(bytes)));
  const std::size_t size = this->Compress(filter, this->Compressed.data(), this->Compressed.size());
  if (size == 0 || size >= bytes) {
    constexpr std::uint32_t both = 3;
    return {{values, values + bytes}, both};
  }
  return {{this->Compressed.begin(), this->Compressed.begin() + static_cast<std::ptrdiff_t>(size)}, 0};
}

/// Compresses the shuffled bytes into `to`, which has `capacity` bytes. Returns the number of compressed
/// bytes, or 0 after a failure.
std::size_t ChunkEncoder::Compress(FilterType filter, std::byte* to, std::size_t capacity)
{
  const std::vector<std::byte>& from = this->Shuffled;
  if (filter == FilterType::Deflate) {
    return libdeflate_zlib_compress(this->Deflate.get(), from.data(), from.size(), to, capacity);
  }
  const std::size_t bytes = ZSTD_compress2(this->Zstd.get(), to, capacity, from.data(), from.size());
  return ZSTD_isError(bytes) ? 0 : bytes;
}

}  // namespace patchio::container
