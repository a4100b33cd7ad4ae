// The time step for a requested time.
#pragma once

#include <cstddef>
#include <vector>

namespace patchio {

/// Returns the index of the last of `times` that is not later than `time`; 0 if all are later or `time` is
/// not a number. A `time` that is below the next of `times` only by rounding (10^-9 of the whole range, and
/// less than half of the gap) means that one. `times` must increase and not be empty.
std::size_t StepAtTime(const std::vector<double>& times, double time);

}  // namespace patchio
