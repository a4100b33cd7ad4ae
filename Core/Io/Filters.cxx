#include "Io/Filters.h"

#include "Base/Error.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace patchio {
namespace {

constexpr std::size_t ChecksumBytes = 4;

/// Returns the greatest number of bytes that one compressed byte can yield: Deflate yields 258 bytes for 2
/// bits, Zstandard one block for 4 bytes.
constexpr std::size_t MaximumExpansion(FilterType kind)
{
  return kind == FilterType::Deflate ? 1032 : ZSTD_BLOCKSIZE_MAX / 4;
}

/// Returns a big-endian 16-bit number.
std::uint32_t Word16(const std::byte* bytes)
{
  return std::to_integer<std::uint32_t>(bytes[0]) << 8 | std::to_integer<std::uint32_t>(bytes[1]);
}

/// Unshuffles the elements from number `first` on one by one, for elements that do not fill a vector.
template <std::size_t ElementBytes>
void UnshuffleFrom(std::size_t first, const std::byte* from, std::size_t count, std::byte* to)
{
  for (std::size_t i = first; i < count; ++i) {
    for (std::size_t b = 0; b < ElementBytes; ++b) {
      to[i * ElementBytes + b] = from[b * count + i];
    }
  }
}

#ifdef __SSE2__

__m128i Load(const std::byte* from)
{
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

void Store(std::byte* to, __m128i bytes)
{
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}

/// Unshuffles 16 elements per step. Interleaving vector r with vector r + N/2 of N vectors, log2(N) times, is
/// a transposition. Returns the number of unshuffled elements.
template <std::size_t ElementBytes>
std::size_t UnshuffleVectors(const std::byte* from, std::size_t count, std::byte* to)
{
  constexpr std::size_t half = ElementBytes / 2;
  std::size_t done = 0;
  for (; done + 16 <= count; done += 16) {
    __m128i rows[ElementBytes];
    for (std::size_t b = 0; b < ElementBytes; ++b) {
      rows[b] = Load(from + b * count + done);
    }
    for (std::size_t step = 1; step < ElementBytes; step *= 2) {
      __m128i mixed[ElementBytes];
      for (std::size_t r = 0; r < half; ++r) {
        mixed[2 * r] = _mm_unpacklo_epi8(rows[r], rows[r + half]);
        mixed[2 * r + 1] = _mm_unpackhi_epi8(rows[r], rows[r + half]);
      }
      std::copy(mixed, mixed + ElementBytes, rows);
    }
    for (std::size_t r = 0; r < ElementBytes; ++r) {
      Store(to + done * ElementBytes + 16 * r, rows[r]);
    }
  }
  return done;
}

#else

template <std::size_t ElementBytes>
std::size_t UnshuffleVectors(const std::byte*, std::size_t, std::byte*)
{
  return 0;
}

#endif

template <std::size_t ElementBytes>
void UnshuffleElements(const std::byte* from, std::size_t count, std::byte* to)
{
  UnshuffleFrom<ElementBytes>(UnshuffleVectors<ElementBytes>(from, count, to), from, count, to);
}

}  // namespace

std::uint32_t Fletcher32(const std::byte* data, std::size_t bytes)
{
  // Both sums are modulo 65535; 0 means that all words so far were 0, and 65535 stands for other multiples.
  // For a block of n words, the second sum grows by n times the first sum and by n - i times word i,
  // from word 0 on. For 360 words, 32 bits suffice.
  constexpr std::size_t block = 360;
  const auto reduce = [](std::uint64_t sum) {
    return sum == 0 ? 0 : static_cast<std::uint32_t>((sum - 1) % 65535 + 1);
  };
  std::uint64_t first = 0, second = 0;
  std::size_t words = bytes / 2;
  while (words > 0) {
    const std::size_t count = std::min(words, block);
    std::uint32_t sum = 0, weighted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t word = Word16(data + 2 * i);
      sum += word;
      weighted += static_cast<std::uint32_t>(count - i) * word;
    }
    second = reduce(second + count * first + weighted);
    first = reduce(first + sum);
    data += 2 * count;
    words -= count;
  }
  if (bytes % 2 == 1) {
    first = reduce(first + (std::to_integer<std::uint32_t>(*data) << 8));
    second = reduce(second + first);
  }
  return static_cast<std::uint32_t>(second << 16 | first);
}

void UnshuffleBytes(const std::byte* from, std::size_t bytes, std::size_t elementBytes, std::byte* to)
{
  const std::size_t count = bytes / elementBytes;
  if (elementBytes == 2) {
    UnshuffleElements<2>(from, count, to);
  } else if (elementBytes == 4) {
    UnshuffleElements<4>(from, count, to);
  } else if (elementBytes == 8) {
    UnshuffleElements<8>(from, count, to);
  } else {
    for (std::size_t b = 0; b < elementBytes; ++b) {
      for (std::size_t i = 0; i < count; ++i) {
        to[i * elementBytes + b] = from[b * count + i];
      }
    }
  }
  const std::size_t whole = count * elementBytes;
  std::copy(from + whole, from + bytes, to + whole);
}

void ChunkDecoder::CloseDecompressor::operator()(libdeflate_decompressor* decompressor) const
{
  libdeflate_free_decompressor(decompressor);
}

void ChunkDecoder::CloseDecompressor::operator()(ZSTD_DCtx_s* decompressor) const
{
  ZSTD_freeDCtx(decompressor);
}

ChunkDecoder::ChunkDecoder() : Decompressor(libdeflate_alloc_decompressor())
{
  if (!this->Decompressor) {
    throw std::bad_alloc();
  }
}

ChunkDecoder::~ChunkDecoder() = default;

std::byte* ScratchMemory::Reserve(std::size_t bytes)
{
  if (this->Bytes < bytes) {
    this->Bytes = 0;
    this->Memory.reset();  // the old and the new memory together might be too much
    this->Memory.reset(new std::byte[bytes]);
    this->Bytes = bytes;
  }
  return this->Memory.get();
}

void ChunkDecoder::Trim(std::size_t most)
{
  for (ScratchMemory& buffer : this->Buffers) {
    if (buffer.Bytes > most) {
      buffer = ScratchMemory();
    }
  }
}

std::byte* ChunkDecoder::OtherBuffer(const Span& data, std::size_t bytes)
{
  return this->Buffers[data.Data == this->Buffers[0].Memory.get() ? 1 : 0].Reserve(bytes);
}

bool ChunkDecoder::DecompressTo(const std::array<FilterType, ChunkedArray::MaximumFilters>& filters,
    std::uint32_t skipped, const std::byte* stored, std::size_t storedBytes, std::byte* values,
    std::size_t chunkBytes)
{
  const bool decompresses = filters[0] == FilterType::Deflate || filters[0] == FilterType::Zstd;
  if (!decompresses || filters[1] != FilterType::None || (skipped & 1) != 0) {
    return false;
  }
  const std::size_t bytes =
      this->DecompressData(filters[0], {stored, storedBytes}, values, chunkBytes, chunkBytes);
  if (bytes != chunkBytes) {
    throw Error(fmt::format("{} bytes of values instead of {}", bytes, chunkBytes));
  }
  return true;
}

/// Decompresses `data` to `to`, which has `capacity` bytes. `chunkBytes`: number for the message. Returns the
/// number of decompressed bytes.
std::size_t ChunkDecoder::DecompressData(
    FilterType kind, const Span& data, std::byte* to, std::size_t capacity, std::size_t chunkBytes)
{
  std::size_t bytes = 0;
  bool tooMany = false, sound = false;
  if (kind == FilterType::Deflate) {
    const libdeflate_result result =
        libdeflate_zlib_decompress(this->Decompressor.get(), data.Data, data.Bytes, to, capacity, &bytes);
    tooMany = result == LIBDEFLATE_INSUFFICIENT_SPACE;
    sound = result == LIBDEFLATE_SUCCESS;
  } else {
    if (!this->ZstdDecompressor) {
      this->ZstdDecompressor.reset(ZSTD_createDCtx());
    }
    if (!this->ZstdDecompressor) {
      throw std::bad_alloc();
    }
    bytes = ZSTD_decompressDCtx(this->ZstdDecompressor.get(), to, capacity, data.Data, data.Bytes);
    tooMany = ZSTD_getErrorCode(bytes) == ZSTD_error_dstSize_tooSmall;
    sound = ZSTD_isError(bytes) == 0;
  }
  if (tooMany) {
    throw Error(fmt::format("compressed data of more than the chunk's {} bytes", chunkBytes));
  }
  if (!sound) {
    throw Error(fmt::format(
        "damaged or incomplete compressed data ({})", kind == FilterType::Deflate ? "Deflate" : "Zstandard"));
  }
  return bytes;
}

ChunkDecoder::Span ChunkDecoder::Decompress(FilterType kind, const Span& data, std::size_t chunkBytes)
{
  // Filters that were applied before this filter may have appended checksums. Small data cannot yield more
  // than MaximumExpansion() allows.
  std::size_t capacity = chunkBytes + ChunkedArray::MaximumFilters * ChecksumBytes;
  if (data.Bytes < capacity / MaximumExpansion(kind)) {
    capacity = data.Bytes * MaximumExpansion(kind);
  }
  std::byte* plain = this->OtherBuffer(data, capacity);
  return {plain, this->DecompressData(kind, data, plain, capacity, chunkBytes)};
}

ChunkDecoder::Span ChunkDecoder::Unshuffle(const Span& data, std::size_t elementBytes)
{
  if (elementBytes == 1) {
    return data;
  }
  std::byte* plain = this->OtherBuffer(data, data.Bytes);
  UnshuffleBytes(data.Data, data.Bytes, elementBytes, plain);
  return {plain, data.Bytes};
}

ChunkDecoder::Span ChunkDecoder::VerifyChecksum(const Span& data)
{
  if (data.Bytes < ChecksumBytes) {
    throw Error(fmt::format("{} bytes, too few for a checksum", data.Bytes));
  }
  const Span values{data.Data, data.Bytes - ChecksumBytes};
  const std::byte* stored = data.Data + values.Bytes;
  // The checksum is little-endian. HDF5 libraries up to 1.6.2 swapped the bytes of each half on little-endian
  // machines.
  const std::uint32_t swapped = Word16(stored + 2) << 16 | Word16(stored);
  const std::uint32_t expected = (swapped & 0x00ff00ff) << 8 | (swapped >> 8 & 0x00ff00ff);
  const std::uint32_t found = Fletcher32(values.Data, values.Bytes);
  if (found != expected && found != swapped) {
    throw Error(
        fmt::format("values whose checksum (Fletcher32) is {:08x} instead of {:08x}", found, expected));
  }
  return values;
}

const std::byte* ChunkDecoder::Decode(const std::array<FilterType, ChunkedArray::MaximumFilters>& filters,
    std::uint32_t skipped, std::size_t elementBytes, const std::byte* stored, std::size_t storedBytes,
    std::size_t chunkBytes)
{
  Span data{stored, storedBytes};
  for (int i = ChunkedArray::MaximumFilters - 1; i >= 0; --i) {
    if (skipped >> i & 1) {
      continue;
    }
    switch (filters[i]) {
      case FilterType::None:
        break;
      case FilterType::Deflate:
      case FilterType::Zstd:
        data = this->Decompress(filters[i], data, chunkBytes);
        break;
      case FilterType::Shuffle:
        data = this->Unshuffle(data, elementBytes);
        break;
      case FilterType::Fletcher32:
        data = VerifyChecksum(data);
        break;
    }
  }
  if (data.Bytes != chunkBytes) {
    throw Error(fmt::format("{} bytes of values instead of {}", data.Bytes, chunkBytes));
  }
  return data.Data;
}

}  // namespace patchio
