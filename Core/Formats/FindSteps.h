// Functions with which formats find time steps: the heads of steps, sorting, and the step for a requested
// time.
#pragma once

#include "Formats/Format.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// A function that reads the head of a step, its time and number, from the file that describes the step.
/// Throws Error if the head cannot be read.
using ReadHead = TimeStep (*)(const std::string& path);

/// Returns the head of a step from options.KnownHead or, if this function is null or returns nothing, from
/// `read`. Throws Error like `read`.
TimeStep HeadOf(const std::string& path, const SeriesOptions& options, ReadHead read);

/// Adds a step to the series or, if the head of the step cannot be read, the warning "Skipping a NOUN.
/// REASON". Returns whether the step was added.
bool AddStep(
    const char* noun, const std::string& path, const SeriesOptions& options, ReadHead read, Series& series);

/// Sorts the steps of a series by their numbers. Equal numbers keep their order.
void SortSteps(Series& series);

/// Returns the index of the last of `times` that is not later than `time`; 0 if all times are later or `time`
/// is not a number. A `time` that is less than the next of `times` only by rounding (10^-9 of the whole
/// range, and less than half of the distance between both times) counts as that next time. `times` must
/// increase and not be empty.
std::size_t StepAtTime(const std::vector<double>& times, double time);

}  // namespace patchio
