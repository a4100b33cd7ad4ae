// What follows from the rates of a study: peaks and dips worth another look, and what to warn of.
#pragma once

#include "Probe/Result.h"
#include "Probe/Settings.h"

#include <string>
#include <vector>

namespace patchio::probe {

/// At most so many features of all curves, the surest first. All ranks find the same, as they have the same
/// rates.
std::vector<FeatureResult> FeaturesToRefine(const Result& found, const Choice& wanted, int most);

/// Faults, rates of memory, and files that were left out in part as they would have taken more than
/// `mostSeconds`.
std::vector<std::string> WarningsOf(const Result& found, double mostSeconds);

}  // namespace patchio::probe
