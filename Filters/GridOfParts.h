// Kept cells of many blocks, joined to unstructured grids.
#ifndef Filters_GridOfParts_h
#define Filters_GridOfParts_h

#include "Filters/SolidPart.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkUnstructuredGrid;

namespace patchio::filters {

/// A grid for each piece of the input (Blocks::Pieces), with the arrays of its blocks. Cells share the points
/// that blocks have in common: of curvilinear blocks, those whose coordinates are equal to the last bit.
/// `goesOn` is asked before each piece; the rest stays empty if it says no.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<SolidPart>& parts, const GoesOn& goesOn);

}  // namespace patchio::filters

#endif
