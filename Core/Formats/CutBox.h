// Cutting of large boxes, so that several ranks and tasks can read one array.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Returns the slowest axis along which the box has more than one cell, or 0. Axis 0 is the fastest axis of
/// an array.
int SlowestAxis(const Box& cells);

/// Cuts the box across an axis into at most 4096 slices. A slice has about two million cells, which is a good
/// size of a request to the storage; more if this limit, a single plane or `grain` requires more. Cuts lie at
/// multiples of `grain` cells from the lower end, so that no chunk of `grain` planes is read twice.
std::vector<Box> CutAcross(const Box& cells, int axis, std::int64_t grain = 1);

}  // namespace patchio
