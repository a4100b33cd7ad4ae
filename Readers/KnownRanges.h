// Stores the ranges of arrays, so that VTK does not compute these ranges, and limits ranges to visible cells
// and points.
#ifndef KnownRanges_h
#define KnownRanges_h

#include "Io/ArrayRange.h"

#include <array>
#include <optional>

class vtkDataArray;
class vtkDataSet;
class vtkUnsignedCharArray;

namespace patchio {

/// Stores `range` as the result of vtkDataArray::GetRange() and GetFiniteRange(), in the keys in which VTK
/// stores ranges. The range is valid until the array is Modified(). Does nothing if `range` is not known.
void SetKnownRange(vtkDataArray* array, const ArrayRange& range);

/// Stores the range of an array whose values all equal `value`. nullopt: stores VTK's empty range, which does
/// not extend the ranges of other blocks.
void SetConstantRange(vtkDataArray* array, std::optional<double> value);

/// Computes and stores the range of an array whose values are contiguous in memory. Stores nothing if
/// ElementTypeOf() returns nullopt, or if the range is not known (see ArrayRange::IsKnown()).
void ComputeRange(vtkDataArray* array);

/// Returns the number of nodes along each axis of a structured grid; 0 for other grids.
std::array<int, 3> DimensionsOf(vtkDataSet* grid);

/// Sets the ranges of the arrays of an image, a rectilinear or a structured grid to the ranges of the visible
/// part of the grid: the cells without ghost flags, and their nodes. (VTK itself would use all values.) An
/// array that is NaN in the whole visible part gets VTK's empty range. Keeps the ranges if all cells are
/// visible, and the ranges of other grids. Since VTK 9.3, also makes VTK's own ranges of cell arrays skip
/// cells with ghost flags. `flags`: ghost flags of the grid's cells; null: all cells are visible.
void LimitRangesToVisible(vtkDataSet* grid, vtkUnsignedCharArray* flags);

/// Hides the points whose cells are all hidden or refined, in an image, a rectilinear or a structured grid.
/// Since 5.12, ParaView ignores stored ranges of point arrays, and computes ranges from the points that are
/// not hidden. `flags`: ghost flags of the grid's cells; null: does nothing.
void HidePointsOfHiddenCells(vtkDataSet* grid, vtkUnsignedCharArray* flags);

}  // namespace patchio

#endif
