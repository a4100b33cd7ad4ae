// Fast fingerprints of bytes, against damage, not against forgery.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchio {

/// XXH3 of 64 bits, seed 0; the same on all machines and for all time.
std::uint64_t Checksum(const void* data, std::size_t bytes);

/// CRC-32 as zlib and PNG have it, of bytes that follow those of which it was `before`; 0 at the start.
std::uint32_t Crc32(std::uint32_t before, const void* data, std::size_t bytes);

/// The contribution of a part of some bytes to the CRC-32 of all bytes: the CRC-32 is the exclusive or of the
/// contributions of all parts, in any order. crc: CRC-32 of the part alone; bytesAfter: number of bytes that
/// follow the part.
std::uint32_t PartOfCrc32(std::uint32_t crc, std::uint64_t bytesAfter);

}  // namespace patchio
