// The cells on one side of a plane, sphere, box or cylinder.
#ifndef Filters_Clip_h
#define Filters_Clip_h

#include "Filters/Part.h"
#include "Filters/Surface.h"

#include <vector>

namespace patchio::filters {

struct ClipRequest
{
  Surface Of;
  bool Below = true;        ///< keeps the negative side of the surface instead of the positive side
  bool WholeCells = false;  ///< keeps cells that the surface cuts as they are
};

/// Returns the kept parts of the visible cells. Cut cells become tetrahedra, pyramids, wedges and hexahedra
/// whose new points lie on the cells' edges, as in VTK; neighbours share whole faces. Empty if `progress`
/// returns false. Not collective.
std::vector<Part> Clip(
    const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
