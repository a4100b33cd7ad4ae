// The cells of an image that shows blocks of several levels, and where the blocks' own cells lie among them.
#ifndef Filters_ImageGrid_h
#define Filters_ImageGrid_h

#include "Base/Communicator.h"
#include "Filters/Blocks.h"

#include <array>
#include <vector>

namespace patchio::filters {

struct ImageGrid
{
  std::array<double, 3> Origin{0, 0, 0}, Spacing{1, 1, 1};
  Int3 Cells{0, 0, 0};  ///< all 0 if nothing is visible
};

/// Collective: the cells of the finest level of which at most so many cover all that is visible. If there are
/// too many even of the coarsest level, cells are several times as wide as those. blocks: see SolidBlocks().
ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double mostCells, Communicator& ranks);

/// Part of the cells, or points, of an image along one axis.
struct ImageAxis
{
  double Origin, Spacing;
  int First, Last;
};

/// For each cell of an image along an axis, a block's cells that it meets.
struct AxisOverlaps
{
  struct Overlap
  {
    int Cell;
    double Part;  ///< of the image's cell
  };

  AxisOverlaps(const double* nodes, int cells, const ImageAxis& image);

  int First = 0, Last = -1;  ///< the image's cells that meet the block
  std::vector<int> Begin;    ///< for each of these where its overlaps begin; then the end
  std::vector<Overlap> List;
};

/// For each point of an image along an axis, where it lies among a block's points.
struct AxisPlaces
{
  struct Place
  {
    int Point;
    double Beyond;  ///< of the way to the next point
  };

  AxisPlaces(const double* nodes, int points, const ImageAxis& image);

  int First = 0, Last = -1;  ///< the image's points within the block
  std::vector<Place> List;
};

}  // namespace patchio::filters

#endif
