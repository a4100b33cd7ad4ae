// The cells whose values lie in a range.
#ifndef Filters_Threshold_h
#define Filters_Threshold_h

#include "Filters/Part.h"

#include <string>
#include <vector>

namespace patchio::filters {

struct ThresholdRequest
{
  std::string Array;
  bool OfPoints = false;
  bool AllPoints = true;  ///< true: all points of a cell must be in the range; false: at least one point
  double Lower = 0, Upper = 0;
  bool Inverted = false;  ///< keeps the cells out of the range instead
};

/// Returns the visible cells whose values of the array (first component) meet the request, and no cells of
/// blocks without the array. Returns an empty list if `progress` returns false. Not collective.
std::vector<Part> Threshold(
    const Blocks& blocks, const ThresholdRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
