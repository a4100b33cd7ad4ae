// The cells on one side of a plane, sphere, box or cylinder.
#ifndef Filters_Clip_h
#define Filters_Clip_h

#include "Filters/GridOfParts.h"
#include "Filters/Surface.h"

#include <vector>

namespace patchio::filters {

struct ClipRequest
{
  Surface Of;
  bool Below = true;        ///< keeps what is on the negative side of the surface
  bool WholeCells = false;  ///< keeps cells that are cut as they are
};

/// What is kept of the visible cells. Cells are cut along their edges, as VTK does, into tetrahedra,
/// pyramids, wedges and hexahedra; those beside each other share whole faces.
std::vector<SolidPart> Clip(const Blocks& blocks, const ClipRequest& request, const GoesOn& goesOn = {});

}  // namespace patchio::filters

#endif
