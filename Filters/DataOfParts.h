// Joins parts to poly data and unstructured grids, with the values of cells and points.
#pragma once

#include "Filters/BlockPart.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;
class vtkUnstructuredGrid;

namespace patchio::filters {

// The output has all arrays of all blocks, including blocks without parts, except ghost flags, global ids and
// pedigree ids. If a block lacks an array, or its array has another number of components, the values are NaN,
// or 0 for integer arrays.

/// Returns the polygons of parts without boxes. The parts of a block share their common points.
/// `originalIds`: adds the arrays vtkOriginalCellIds and vtkOriginalPointIds, as VTK's surface filters do;
/// all parts must then belong to one block.
vtkSmartPointer<vtkPolyData> MakePolyData(const std::vector<const Block*>& blocks,
    const std::vector<const BlockPart*>& parts, bool originalIds = false);

/// Returns the result of MakePolyData() for each child of the input's root (Blocks::ChildNames).
std::vector<vtkSmartPointer<vtkPolyData>> MakePolyDataOfChildren(
    const Blocks& blocks, const std::vector<BlockPart>& parts);

/// Returns a grid for each child of the input's root. Cells of different blocks share their common points.
/// Points of curvilinear blocks are common if their coordinates are equal to the last bit. Calls `progress`
/// before each child with the fraction of finished children. If `progress` returns false, the grid of the
/// child is empty.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<BlockPart>& parts, const ProgressCallback& progress);

}  // namespace patchio::filters
