// An image of what is visible in blocks of several levels.
#ifndef Filters_Image_h
#define Filters_Image_h

#include "Catalog/Box.h"
#include "Filters/ImageGrid.h"

#include <functional>
#include <string>
#include <vector>

class vtkImageData;

namespace patchio::filters {

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

#endif
