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

/// Returns the kept parts of the visible cells. Cut cells become tetrahedra, pyramids, wedges and hexahedra,
/// or, in flat blocks, polygons and lines. New points lie on the edges of cells, as in VTK, or inside cells,
/// and neighbours share whole faces. Cells with a corner where the surface's function is not finite are left
/// out. Returns an empty list if `progress` (see ParallelFor()) returns false. Not collective.
std::vector<BlockPart> Clip(
    const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress = {});

}  // namespace patchio::filters

#endif
