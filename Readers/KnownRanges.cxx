#include "KnownRanges.h"

#include <vtkDataArray.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleVectorKey.h>
#include <vtkInformationInformationVectorKey.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>

#include <array>
#include <optional>

namespace patchio {
namespace {

std::array<double, 2> PairOf(const ValueRange& range)
{
  return {range.Least, range.Greatest};
}

std::optional<ElementType> TypeOf(const vtkDataArray* array)
{
  switch (array->GetDataType()) {
    case VTK_FLOAT:
      return ElementType::Float32;
    case VTK_DOUBLE:
      return ElementType::Float64;
    case VTK_INT:
      return ElementType::Int32;
    case VTK_UNSIGNED_CHAR:
      return ElementType::UInt8;
    default:
      return std::nullopt;
  }
}

}  // namespace

void SetKnownRange(vtkDataArray* array, const ArrayRange& range)
{
  const int components = array->GetNumberOfComponents();
  if (!range.IsKnown(components)) {
    return;
  }
  vtkInformation* const info = array->GetInformation();
  vtkNew<vtkInformationVector> ofComponents;
  ofComponents->SetNumberOfInformationObjects(components);
  for (int c = 0; c < components; ++c) {
    const std::array<double, 2> pair = PairOf(range.OfComponent(c));
    ofComponents->GetInformationObject(c)->Set(vtkDataArray::COMPONENT_RANGE(), pair.data(), 2);
  }
  // No value is infinite, so that both ranges are one, in one place: there may be many small arrays.
  info->Set(vtkDataArray::PER_COMPONENT(), ofComponents);
  info->Set(vtkDataArray::PER_FINITE_COMPONENT(), ofComponents);
  if (components > 1) {
    const std::array<double, 2> pair = PairOf(range.OfLength());
    info->Set(vtkDataArray::L2_NORM_RANGE(), pair.data(), 2);
    info->Set(vtkDataArray::L2_NORM_FINITE_RANGE(), pair.data(), 2);
  }
}

void FindRange(vtkDataArray* array)
{
  if (const std::optional<ElementType> type = TypeOf(array)) {
    ArrayRange range;
    range.Add(*type, array->GetNumberOfComponents(), array->GetVoidPointer(0), array->GetNumberOfTuples());
    SetKnownRange(array, range);
  }
}

}  // namespace patchio
