// The grids of blocks of cells; those of lists of points are in PointGrids.h.
#ifndef BlockGrids_h
#define BlockGrids_h

#include "Catalog/Catalog.h"
#include "Session/LoadRequest.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

namespace patchio {

/// A grid of these cells of a level, without arrays: vtkUniformGrid, vtkRectilinearGrid or vtkStructuredGrid.
///
/// onSphere: puts geographic grids on a sphere. coordinates: node positions of a curvilinear grid, whose
/// memory the grid takes over; null for other grids.
vtkSmartPointer<vtkDataSet> MakeGrid(
    const Catalog& catalog, int level, const Box& cells, bool onSphere, LoadedArray* coordinates);

}  // namespace patchio

#endif
