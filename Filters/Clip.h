// The cells on one side of a plane, sphere, box or cylinder.
#ifndef Filters_Clip_h
#define Filters_Clip_h

#include "Filters/Part.h"
#include "Filters/Surface.h"

#include <vector>

namespace patchio::filters {

struct ClipRequest
{
  Surface Boundary;
  bool Below = true;        ///< keeps the negative side of the surface instead of the positive side
  bool WholeCells = false;  ///< keeps cut cells whole
};

/// Returns the kept parts of the visible cells. Cut cells become tetrahedra, pyramids, wedges and hexahedra
/// whose new points lie on the cells' edges, as in VTK; neighbours share whole faces. Returns an empty list
/// if `progress` returns false. Not collective.
std::vector<Part> Clip(
    const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
