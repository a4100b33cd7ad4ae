// The cells whose values lie in a range.
#ifndef Filters_Threshold_h
#define Filters_Threshold_h

#include "Filters/GridOfParts.h"

#include <string>
#include <vector>

namespace patchio::filters {

struct ThresholdRequest
{
  std::string Array;
  bool OfPoints = false;
  bool AllPoints = true;  ///< whether all points of a cell must be in the range, or any
  double Lower = 0, Upper = 0;
  bool Inverted = false;  ///< keeps the other cells
};

/// The visible cells that are kept, by the first component of the array; none of blocks that lack it.
std::vector<SolidPart> Threshold(
    const Blocks& blocks, const ThresholdRequest& request, const GoesOn& goesOn = {});

}  // namespace patchio::filters

#endif
