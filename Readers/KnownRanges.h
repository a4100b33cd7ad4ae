// Ranges of arrays, so that VTK need not compute them.
#ifndef KnownRanges_h
#define KnownRanges_h

#include "Io/ArrayRange.h"

#include <optional>

class vtkDataArray;
class vtkDataSet;
class vtkUnsignedCharArray;

namespace patchio {

/// If the range is known, stores the answers to vtkDataArray::GetRange() and GetFiniteRange() in the keys in
/// which VTK keeps its own. They hold until the array is Modified().
void SetKnownRange(vtkDataArray* array, const ArrayRange& range);

/// The same for an array that has this value everywhere. nullopt: it has no value at all, and adds nothing to
/// the ranges of other blocks.
void SetConstantRange(vtkDataArray* array, std::optional<double> value);

/// The same for an array that was made here and has its values one after another in memory.
void FindRange(vtkDataArray* array);

/// Gives the arrays of an image, a rectilinear or a structured grid the ranges of its visible part: the cells
/// without ghost flags, and their nodes. (VTK itself would use all values.) An array without a number there
/// gets VTK's empty range. Does nothing if all cells are visible.
/// flags: of the grid's cells; null if all are visible.
void LimitRangesToVisible(vtkDataSet* grid, vtkUnsignedCharArray* flags);

/// The same for ParaView since 5.12 and point arrays: it does not ask for known ranges, but for the ranges of
/// points that are not hidden. Hides the points that only hidden and refined cells have, if there are any.
void HidePointsOfHiddenCells(vtkDataSet* grid, vtkUnsignedCharArray* flags);

}  // namespace patchio

#endif
