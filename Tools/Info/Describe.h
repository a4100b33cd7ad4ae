// The output of `patchio info`, as JSON.
#pragma once

#include "Info/StepFacts.h"

#include <nlohmann/json.hpp>

namespace patchio::tools {

/// The "state" of a sidecar and, if there is one, its "path" and "bytes" or "reason".
nlohmann::json DescribeSidecar(const StepFacts& facts);

/// Path, number, time and date of a step.
nlohmann::json DescribeTime(const TimeStep& step);

/// A step with its content, or with "error", which says why it cannot be opened. withRanges: adds the
/// "range", [least, greatest], of each variable of one component if the files say it.
nlohmann::json DescribeStep(const StepFacts& facts, const Format& format, bool withRanges);

}  // namespace patchio::tools
