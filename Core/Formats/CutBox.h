// Large boxes of one array are cut, so that several ranks and tasks have something to read.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// The axis along which values lie farthest apart in an array whose axis 0 is the fastest.
int SlowestAxis(const Box& cells);

/// The box in slices across an axis: each has about as many cells as a request to the storage should have,
/// and there are at most some thousands. Cuts lie at multiples of `grain` cells from the lower end, so that
/// no chunk of so many planes is read twice.
std::vector<Box> CutAcross(const Box& cells, int axis, std::int64_t grain = 1);

}  // namespace patchio
