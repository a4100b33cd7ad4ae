// Fast fingerprints of bytes, against damage, not against forgery.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchio {

/// XXH3 of 64 bits, seed 0; the same on all machines and for all time.
std::uint64_t Checksum(const void* data, std::size_t bytes);

/// CRC-32 as zlib and PNG have it, of bytes that follow those of which it was `before`; 0 at the start.
std::uint32_t Crc32(std::uint32_t before, const void* data, std::size_t bytes);

}  // namespace patchio
