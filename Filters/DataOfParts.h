// Parts joined to poly data and unstructured grids, with the values of cells and points.
#pragma once

#include "Filters/Part.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;
class vtkUnstructuredGrid;

namespace patchio::filters {

// The output has all arrays of all blocks, including blocks without parts, except flags and global ids. Where
// a block lacks an array, or has another number of components, values are NaN, or 0 if they are integers.

/// Returns the cells of parts without boxes. Parts of a block share their common points. originalIds: adds
/// the arrays vtkOriginalCellIds and vtkOriginalPointIds, as VTK's surface filters do, which requires parts
/// of a single block.
vtkSmartPointer<vtkPolyData> MakePolyData(
    const std::vector<const Block*>& blocks, const std::vector<const Part*>& parts, bool originalIds = false);

/// Calls MakePolyData() for each piece of the input (Blocks::Pieces).
std::vector<vtkSmartPointer<vtkPolyData>> MakePieces(const Blocks& blocks, const std::vector<Part>& parts);

/// Returns a grid for each piece of the input. Cells of different blocks share their common points; points of
/// curvilinear blocks are common if their coordinates are equal to the last bit. `progress` is called before
/// each piece. If `progress` returns false, the grid of the piece stays empty.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<Part>& parts, const ProgressCallback& progress);

}  // namespace patchio::filters
