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
  bool Triangles = true;  ///< cuts polygons into triangles

  /// Receives, on the calling thread, the fraction of the work that is done. Returns false to stop the work.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Collective: returns the poly data of each piece, in the order of Blocks::Pieces; all are empty if Progress
/// returned false.
std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks);

}  // namespace patchio::filters

#endif
