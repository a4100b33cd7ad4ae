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
  bool Triangles = true;  ///< cells are cut into triangles, not left as polygons

  /// Called on the calling thread with the fraction that is done. If it returns false, the slice is given up.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Collective: returns the poly data of each piece, in the order of Blocks::Pieces; all are empty if the
/// slice was given up.
std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks);

}  // namespace patchio::filters

#endif
