// A fast fingerprint of bytes, against damage, not against forgery.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchio {

/// XXH3 of 64 bits, seed 0; the same on all machines and for all time.
std::uint64_t Checksum(const void* data, std::size_t bytes);

}  // namespace patchio
