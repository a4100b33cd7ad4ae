#include "KnownRanges.h"

#include <vtkDataArray.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleVectorKey.h>
#include <vtkInformationInformationVectorKey.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkType.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

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

/// No value is infinite, so that both ranges are one, in one place: there may be many small arrays.
void SetRanges(vtkDataArray* array, const std::vector<std::array<double, 2>>& ofComponents,
    const std::array<double, 2>& ofLength)
{
  const int components = array->GetNumberOfComponents();
  vtkInformation* const info = array->GetInformation();
  vtkNew<vtkInformationVector> ranges;
  ranges->SetNumberOfInformationObjects(components);
  for (int c = 0; c < components; ++c) {
    ranges->GetInformationObject(c)->Set(vtkDataArray::COMPONENT_RANGE(), ofComponents[c].data(), 2);
  }
  info->Set(vtkDataArray::PER_COMPONENT(), ranges);
  info->Set(vtkDataArray::PER_FINITE_COMPONENT(), ranges);
  if (components > 1) {
    info->Set(vtkDataArray::L2_NORM_RANGE(), ofLength.data(), 2);
    info->Set(vtkDataArray::L2_NORM_FINITE_RANGE(), ofLength.data(), 2);
  }
}

}  // namespace

void SetKnownRange(vtkDataArray* array, const ArrayRange& range)
{
  const int components = array->GetNumberOfComponents();
  if (!range.IsKnown(components)) {
    return;
  }
  std::vector<std::array<double, 2>> ofComponents;
  for (int c = 0; c < components; ++c) {
    ofComponents.push_back(PairOf(range.OfComponent(c)));
  }
  SetRanges(array, ofComponents, PairOf(range.OfLength()));
}

void SetConstantRange(vtkDataArray* array, std::optional<double> value)
{
  const int components = array->GetNumberOfComponents();
  // VTK's own answer where it has found no number.
  const double none[2] = {VTK_DOUBLE_MAX, VTK_DOUBLE_MIN};
  const std::array<double, 2> pair{value.value_or(none[0]), value.value_or(none[1])};
  const double length = std::abs(value.value_or(0)) * std::sqrt(components);
  SetRanges(array, std::vector<std::array<double, 2>>(components, pair),
      value ? std::array<double, 2>{length, length} : pair);
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
