// Any surface through the cells of a block, each cut along its edges.
#ifndef Extract_CellCut_h
#define Extract_CellCut_h

#include "Extract/CutPart.h"
#include "Extract/Surface.h"

namespace patchio::extract {

/// Adds to the part the cuts of the block's cells in layers begin to end (not included) along z.
void CutLayers(const Block& block, const Surface& surface, int begin, int end, bool triangles, CutPart& part);

}  // namespace patchio::extract

#endif
