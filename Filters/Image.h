// An image of all levels.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Box.h"
#include "Filters/Blocks.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace patchio::filters {

/// The cells of an image that shows blocks of several levels, and where the blocks' own cells lie among
/// them.
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

class vtkImageData;

namespace patchio::filters {

/// An image of what is visible in blocks of several levels.
struct ImageRequest
{
  ImageGrid Grid;
  Box Cells;                                         ///< of the grid, those of this rank; may be empty
  std::vector<std::string> CellArrays, PointArrays;  ///< those that all blocks have are taken

  /// Called on the calling thread, with the share that is done; false: the image is given up.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Collective. Cells get the mean of the visible cells in them, by volume, or the value of the visible cell
/// that they lie in; points get values between those of the finest visible cell around them. Values that are
/// not numbers do not count. Cells and points of nothing visible are hidden by vtkGhostType, and hold the
/// lowest value, because a volume's colours go over into those of its neighbours. Values are double, or float
/// where the data are. blocks: see SolidBlocks().
void FillImage(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image);

}  // namespace patchio::filters
