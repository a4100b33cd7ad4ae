// Grids of blocks of cells.
#ifndef BlockGrids_h
#define BlockGrids_h

#include "Catalog/Catalog.h"
#include "Session/LoadRequest.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

namespace patchio {

/// A grid of these cells of a level, without arrays: vtkUniformGrid, vtkRectilinearGrid or vtkStructuredGrid.
/// Not for lists of points; see PointGrids.h.
///
/// onSphere: puts geographic grids on a sphere. coordinates: node positions of curvilinear grids, which the
/// grid takes over; else null.
vtkSmartPointer<vtkDataSet> MakeGrid(
    const Catalog& catalog, int level, const Box& cells, bool onSphere, LoadedArray* coordinates);

}  // namespace patchio

#endif
