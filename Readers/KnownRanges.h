// Ranges of arrays that VTK need not find.
#ifndef KnownRanges_h
#define KnownRanges_h

#include "Decode/ArrayRange.h"

#include <optional>

class vtkDataArray;
class vtkDataSet;

namespace patchio {

/// Where the range is known: the answers to vtkDataArray::GetRange() and GetFiniteRange(), in the keys in
/// which VTK keeps its own. They hold until the array is Modified().
void SetKnownRange(vtkDataArray* array, const ArrayRange& range);

/// The same for an array that has this value everywhere; nullopt: of no value at all, so that it adds nothing
/// to the ranges of other blocks.
void SetConstantRange(vtkDataArray* array, std::optional<double> value);

/// The same for an array that was made here, with values one after another.
void FindRange(vtkDataArray* array);

/// Gives the arrays of an image, a rectilinear or a structured grid the ranges of what is to be seen of it:
/// of the cells that its ghost flags neither hide nor call duplicates, and of their nodes. An array without a
/// number there gets VTK's empty range. Nothing is done where all cells are to be seen; VTK itself would take
/// all values.
void LimitRangesToVisible(vtkDataSet* grid);

}  // namespace patchio

#endif
