// What `patchio info` says, as JSON.
#pragma once

#include "Info/StepFacts.h"

#include <nlohmann/json.hpp>

namespace patchio::tools {

/// "sidecar": its "state", and where there is one "path" and "bytes", or "reason".
nlohmann::json DescribeSidecar(const StepFacts& facts);

/// Path, number, time and date of a step.
nlohmann::json DescribeTime(const TimeStep& step);

/// A step with all that is in it, or with "error", which says why it cannot be opened. withRanges: the
/// "range" of variables of one component, [least, greatest], where the files say it.
nlohmann::json DescribeStep(const StepFacts& facts, const Format& format, bool withRanges);

}  // namespace patchio::tools
