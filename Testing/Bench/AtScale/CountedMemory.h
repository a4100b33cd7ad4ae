// Counts the memory that this program gets from operator new.
#pragma once

#include <cstdint>

namespace patchio::atscale {

/// Returns the bytes in use now, as the allocator rounds them.
std::uint64_t BytesInUse();
/// Returns the maximum since ForgetMostBytes().
std::uint64_t MostBytesInUse();
void ForgetMostBytes();

}  // namespace patchio::atscale
