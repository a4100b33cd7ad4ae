// Ranges of arrays that VTK need not find.
#ifndef KnownRanges_h
#define KnownRanges_h

#include "Exec/ArrayRange.h"

#include <optional>

class vtkDataArray;

namespace patchio {

/// Where the range is known: the answers to vtkDataArray::GetRange() and GetFiniteRange(), in the keys in
/// which VTK keeps its own. They hold until the array is Modified().
void SetKnownRange(vtkDataArray* array, const ArrayRange& range);

/// The same for an array that has this value everywhere; nullopt: of no value at all, so that it adds nothing
/// to the ranges of other blocks.
void SetConstantRange(vtkDataArray* array, std::optional<double> value);

/// The same for an array that was made here, with values one after another.
void FindRange(vtkDataArray* array);

}  // namespace patchio

#endif
