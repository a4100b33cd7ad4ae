// Selects the cells whose values lie in a range.
#ifndef Filters_Threshold_h
#define Filters_Threshold_h

#include "Filters/BlockPart.h"

#include <string>
#include <vector>

namespace patchio::filters {

/// The parameters of Threshold().
struct ThresholdRequest
{
  std::string Array;         ///< name of the array
  bool IsPointData = false;  ///< true: Array is a point array; false: a cell array
  bool AllPoints = true;     ///< true: all points of a cell must lie in the range; false: one point suffices
  double Lower = 0, Upper = 0;  ///< the ends of the range, which are included
  bool Inverted = false;        ///< true: selects the other cells
};

/// Returns the visible cells that `request` selects by the first component of the array. Blocks that lack the
/// array have no selected cells, also if Inverted is true. Returns an empty list if `progress` (see
/// ParallelFor()) returns false. Not collective.
std::vector<BlockPart> Threshold(
    const Blocks& blocks, const ThresholdRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
