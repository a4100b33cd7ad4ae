// How much memory this machine can still give.
#pragma once

#include <cstdint>

namespace patchio {

/// Bytes that can be allocated without swapping, as the kernel estimates; the largest value where unknown.
std::uint64_t AvailableMemory();

}  // namespace patchio
