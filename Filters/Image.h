// Resamples blocks of several levels to one image.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Box.h"
#include "Filters/Blocks.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

class vtkImageData;

namespace patchio::filters {

/// The geometry of an image that shows blocks of several levels.
struct ImageGrid
{
  std::array<double, 3> Origin{0, 0, 0}, Spacing{1, 1, 1};
  Int3 Cells{0, 0, 0};  ///< number of cells along each axis; all 0 if no cell is visible
};

/// Returns the geometry of an image around all visible cells. The cells of the image have the size of the
/// cells of the finest level for which at most `maxCells` cells suffice. If the image would have more cells
/// even with the cell size of the coarsest level, the cells of the image are a whole number of times as wide
/// as the cells of the coarsest level. `blocks`: see SolidBlocks(). Collective: every rank of the
/// communicator calls it.
ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double maxCells, Communicator& ranks);

/// The cells, or points, First .. Last of an image along one axis.
struct ImageAxis
{
  double Origin, Spacing;
  int First, Last;
};

/// The cells of a block that overlap each cell of an image, along one axis.
struct AxisOverlaps
{
  struct Overlap
  {
    int Cell;
    double Fraction;  ///< fraction of the image's cell that Cell overlaps
  };

  /// Finds the overlaps. `nodes`: positions of the `cells` + 1 nodes of the block along the axis.
  AxisOverlaps(const double* nodes, int cells, const ImageAxis& image);

  int First = 0, Last = -1;  ///< the cells of the image that overlap the block
  std::vector<int> Begin;  ///< for each of these cells: index in List of its first overlap; then List.size()
  std::vector<Overlap> List;
};

/// The positions of an image's points relative to the points of a block, along one axis.
struct AxisSamples
{
  struct Sample
  {
    int Point;        ///< the last point of the block at or before the position
    double Fraction;  ///< position between Point (0) and the next point of the block (1)
  };

  /// Finds the samples. `nodes`: positions of the `points` points of the block along the axis.
  AxisSamples(const double* nodes, int points, const ImageAxis& image);

  int First = 0, Last = -1;  ///< the points of the image within the block
  std::vector<Sample> List;
};

/// The parameters of FillImage().
struct ImageRequest
{
  ImageGrid Grid;
  Box Cells;  ///< cells of Grid that this rank fills; may be empty
  /// Names of arrays; FillImage() skips arrays that a block lacks.
  std::vector<std::string> CellArrays, PointArrays;

  /// Called on the calling thread with the fraction of the work that is done. Returns false to stop the work.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Fills `image` with this rank's part of the image. The value of a cell is the mean, by volume, of the
/// visible cells that overlap the cell. The value of a point is interpolated in the finest visible cell
/// around the point. NaN values are ignored. Cells and points without visible data are hidden by vtkGhostType
/// and have the lowest finite value of the array on all ranks, because volume rendering blends the colours of
/// neighbouring cells. Values are float if the data are float, otherwise double. If Progress returns false,
/// the image is empty. `blocks`: see SolidBlocks(). Collective: every rank of the communicator calls it.
void FillImage(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image);

}  // namespace patchio::filters
