// Blocks of several levels, resampled to one image.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Box.h"
#include "Filters/Blocks.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace patchio::filters {

/// The geometry of an image that shows blocks of several levels.
struct ImageGrid
{
  std::array<double, 3> Origin{0, 0, 0}, Spacing{1, 1, 1};
  Int3 Cells{0, 0, 0};  ///< all 0 if nothing is visible
};

/// Collective: returns an image around all visible cells. The image's cells have the size of the finest level
/// with which at most `mostCells` cells suffice; if even the coarsest level's size gives too many cells, the
/// cells are several times as wide. blocks: see SolidBlocks().
ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double mostCells, Communicator& ranks);

/// The cells, or points, First .. Last of an image along one axis.
struct ImageAxis
{
  double Origin, Spacing;
  int First, Last;
};

/// The cells of a block that overlap each cell of an image along an axis.
struct AxisOverlaps
{
  struct Overlap
  {
    int Cell;
    double Part;  ///< overlapped fraction of the image's cell
  };

  AxisOverlaps(const double* nodes, int cells, const ImageAxis& image);

  int First = 0, Last = -1;  ///< range of the image's cells that meet the block
  std::vector<int> Begin;    ///< index in List of the first overlap of each of these cells, then List's size
  std::vector<Overlap> List;
};

/// The positions of an image's points along an axis, relative to the points of a block.
struct AxisSamples
{
  struct Sample
  {
    int Point;
    double Beyond;  ///< fraction of the way from Point to the next one
  };

  AxisSamples(const double* nodes, int points, const ImageAxis& image);

  int First = 0, Last = -1;  ///< range of the image's points within the block
  std::vector<Sample> List;
};

}  // namespace patchio::filters

class vtkImageData;

namespace patchio::filters {

/// The image that FillImage() makes.
struct ImageRequest
{
  ImageGrid Grid;
  Box Cells;                                         ///< this rank's cells of the grid; may be empty
  std::vector<std::string> CellArrays, PointArrays;  ///< FillImage() skips arrays that some block lacks

  /// Receives, on the calling thread, the fraction of the work that is done. Returns false to stop the work.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Collective: makes this rank's part of the image. A cell gets the mean, by volume, of the visible cells
/// that overlap it. A point gets values interpolated in the finest visible cell around it. NaN values are
/// ignored. vtkGhostType hides cells and points without visible data. These cells and points hold the lowest
/// value of the array, because the colours of a volume blend into those of neighbouring cells. Values are
/// double, or float if the data are. The image is empty if Progress returned false. blocks: see
/// SolidBlocks().
void FillImage(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image);

}  // namespace patchio::filters
