// Which time step answers a request for a time.
#pragma once

#include <cstddef>
#include <vector>

namespace patchio {

/// Index of the last of `times` at or before `time`; 0 when all are later, or `time` is not a number. A
/// request that falls short of the next time by rounding alone (10^-9 of the whole range, and less than half
/// of the gap) means that one. `times` increase and are not empty.
std::size_t StepAtTime(const std::vector<double>& times, double time);

}  // namespace patchio
