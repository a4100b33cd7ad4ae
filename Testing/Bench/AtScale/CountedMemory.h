// Memory that this program has from operator new, counted.
#pragma once

#include <cstdint>

namespace patchio::atscale {

/// Bytes in use now, as the allocator gives them out.
std::uint64_t BytesInUse();
/// The most since ForgetMostBytes().
std::uint64_t MostBytesInUse();
void ForgetMostBytes();

}  // namespace patchio::atscale
