// Joins parts to poly data and unstructured grids, with the values of cells and points.
#pragma once

#include "Filters/BlockPart.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;
class vtkUnstructuredGrid;

namespace patchio::filters {

// The output has all numeric arrays of all blocks, including blocks without parts, except ghost flags, global
// ids, pedigree ids and arrays without names. If a block lacks an array, or if the block's array has too few
// tuples or another number of components than in the first block with the array, the values are NaN, or 0 for
// integer arrays.

/// Returns the polygons, lines and vertices of parts without boxes. Parts from the same call of
/// CutTasks::Add() share their common points. `originalIds`: adds the arrays vtkOriginalCellIds and
/// vtkOriginalPointIds, as VTK's surface filters do; all parts must then belong to one block.
vtkSmartPointer<vtkPolyData> MakePolyData(const std::vector<const Block*>& blocks,
    const std::vector<const BlockPart*>& parts, bool originalIds = false);

/// Returns the result of MakePolyData() for each of Blocks::ChildNames.
std::vector<vtkSmartPointer<vtkPolyData>> MakePolyDataOfChildren(
    const Blocks& blocks, const std::vector<BlockPart>& parts);

/// Returns a grid for each of Blocks::ChildNames. Cells of different blocks in a grid share their common
/// points. Points of curvilinear blocks are common if their coordinates are equal to the last bit. Calls
/// `progress` before each grid with the fraction of finished grids. If `progress` returns false, the grid is
/// empty.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<BlockPart>& parts, const ProgressCallback& progress);

}  // namespace patchio::filters
