// Slices many blocks by planes, spheres, boxes or cylinders.
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

/// The parameters of Slice().
struct SliceRequest
{
  std::vector<Surface> Surfaces;
  bool Triangles = true;  ///< divides the polygons into triangles

  /// Called on the calling thread with the fraction of the work that is done. Returns false to stop the work.
  std::function<bool(double)> Progress = [](double) { return true; };
};

/// Returns the slice of this rank's blocks: a poly data for each of Blocks::ChildNames. All poly data are
/// empty if Progress returns false after the cuts. Collective: every rank of the communicator calls it.
std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks);

}  // namespace patchio::filters

#endif
