// Pictures of results, drawn by plot_probe.py.
#pragma once

#include <string>
#include <vector>

namespace patchio::probe {

/// Draws the results into `folder`. `python`: the one to use, or empty for the first that has matplotlib.
/// Gives why there are no pictures; empty when there are.
std::string DrawPlots(
    const std::vector<std::string>& results, const std::string& folder, const std::string& python);

}  // namespace patchio::probe
