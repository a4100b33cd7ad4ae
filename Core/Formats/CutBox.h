// Cutting of large boxes, so that several ranks and tasks can read one array.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Returns the axis with the largest distance between adjacent values, in an array whose axis 0 is the
/// fastest.
int SlowestAxis(const Box& cells);

/// Cuts the box into slices across an axis. Each slice has about as many cells as a request to the storage
/// should have; there are at most some thousand slices. Cuts lie at multiples of `grain` cells from the lower
/// end, so that no chunk of `grain` planes is read twice.
std::vector<Box> CutAcross(const Box& cells, int axis, std::int64_t grain = 1);

}  // namespace patchio
