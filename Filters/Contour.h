// Contours of cell data of several levels, without cracks, as plain values.
#ifndef Filters_Contour_h
#define Filters_Contour_h

#include "Filters/ContourSlab.h"
#include "Filters/RunTasks.h"

#include <array>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// Triangles that share their points, or lines (see ContourPart). Of several levels, one after another.
struct Contour
{
  std::vector<CrossingPoint> Points;
  std::vector<std::int64_t> PointsBefore;  ///< for each level, and behind the last one
  std::vector<std::array<std::int64_t, 3>> Triangles;
  std::vector<CellRef> Cells;  ///< of points: the grid's cell in which each triangle lies
};

/// Contours of the blocks of this rank, on all threads of TBB. The result does not depend on their number.
/// `progress` is called now and then from this thread with the part that is done; it stops when that says
/// false.
Contour MakeContour(
    const CellLattice& lattice, const std::vector<double>& levels, const GoesOn& progress = {});

}  // namespace patchio::filters

#endif
