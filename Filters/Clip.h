// Clips the cells of many blocks by a plane, sphere, box or cylinder.
#ifndef Filters_Clip_h
#define Filters_Clip_h

#include "Filters/BlockPart.h"
#include "Filters/Surface.h"

#include <vector>

namespace patchio::filters {

/// The parameters of Clip().
struct ClipRequest
{
  Surface Boundary;
  bool Below = true;        ///< true: keeps the negative side of the surface; false: the positive side
  bool WholeCells = false;  ///< true: keeps cells whole if the surface cuts them
};

/// Returns the kept parts of the visible cells. Cut cells become tetrahedra, pyramids, wedges and hexahedra.
/// Their new points lie on the edges of the cells, as in VTK, or inside the cells, and neighbours share whole
/// faces. Returns an empty list if `progress` (see RunTasks()) returns false. Not collective.
std::vector<BlockPart> Clip(
    const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
