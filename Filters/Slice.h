// The slice of many blocks by planes, spheres, boxes or cylinders.
#ifndef Filters_Slice_h
#define Filters_Slice_h

#include "Base/Communicator.h"
#include "Filters/Blocks.h"
#include "Filters/Surface.h"

#include <vtkSmartPointer.h>

#include <functional>
#include <vector>

class vtkPolyData;

namespace patchio::filters {

struct SliceRequest
{
  std::vector<Surface> Surfaces;
  bool Triangles = true;  ///< else polygons

  /// Called on the calling thread, with the share that is done; false: the slice is given up.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Collective. The poly data of each piece, in the order of Blocks::Pieces; empty ones if it was given up.
std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks);

}  // namespace patchio::filters

#endif
