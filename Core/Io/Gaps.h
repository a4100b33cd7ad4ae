// Values for the parts of an output that nothing is stored for: the nearest stored ones.
#pragma once

#include "Io/Decode.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

/// Where a window `Extends`: fills what lies outside First .. Last with the nearest tuple within.
void ExtendEdges(const Window& window, std::size_t elementBytes, void* output);

/// Gives each tuple that nothing was stored for a value of its neighbourhood, so that ranges stay true: the
/// one before it along axis 0, or after it; a row without any becomes that of the nearest row of its plane
/// that has some, a plane without any the nearest plane.
///
/// filled: one flag per tuple, axis 0 fastest, 0 where nothing was stored; not all may be 0.
void FillGaps(
    const std::vector<std::uint8_t>& filled, const Dims& dims, std::size_t tupleBytes, void* output);

}  // namespace patchio
