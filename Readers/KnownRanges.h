// Ranges of arrays, so that VTK need not compute them.
#ifndef KnownRanges_h
#define KnownRanges_h

#include "Io/ArrayRange.h"

#include <optional>

class vtkDataArray;
class vtkDataSet;
class vtkUnsignedCharArray;

namespace patchio {

/// Stores a known range as the answer to vtkDataArray::GetRange() and GetFiniteRange(), in the keys in which
/// VTK keeps its own answers. The range is valid until the array is Modified(). Does nothing if the range is
/// not known.
void SetKnownRange(vtkDataArray* array, const ArrayRange& range);

/// Stores the range of an array whose values all equal `value`. nullopt: the array has no values, and does
/// not extend the ranges of other blocks.
void SetConstantRange(vtkDataArray* array, std::optional<double> value);

/// Computes and stores the range of an array whose values follow each other in memory.
void FindRange(vtkDataArray* array);

/// Sets the ranges of the arrays of an image, a rectilinear or a structured grid to those of the grid's
/// visible part: the cells without ghost flags, and their nodes. (VTK itself would use all values.) An array
/// with only NaN in this part gets VTK's empty range. Does nothing if all cells are visible. flags: ghost
/// flags of the grid's cells; null: all cells are visible.
void LimitRangesToVisible(vtkDataSet* grid, vtkUnsignedCharArray* flags);

/// Hides the points whose cells are all hidden or refined. ParaView since 5.12 needs this for point arrays,
/// because it computes ranges from the points that are not hidden, and ignores stored ranges.
void HidePointsOfHiddenCells(vtkDataSet* grid, vtkUnsignedCharArray* flags);

}  // namespace patchio

#endif
