#include "ArraysToWrite.h"

#include "Base/Error.h"
#include "DataArrays.h"
#include "Filters/Blocks.h"

#include <vtkDataSetAttributes.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkType.h>
#include <vtkUnsignedCharArray.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace patchio {
namespace {

/// The types in the order in which CommonType() tries them.
constexpr ElementType TypesBySize[] = {ElementType::UInt8, ElementType::Int8, ElementType::Int16,
    ElementType::UInt16, ElementType::Int32, ElementType::UInt32, ElementType::Float32, ElementType::Int64,
    ElementType::UInt64, ElementType::Float64};

/// The range of the integers that a type represents exactly.
struct IntegerRange
{
  double Least, Greatest;
};

IntegerRange IntegerRangeOf(ElementType type)
{
  return VisitType(type, [](auto value) {
    using Limits = std::numeric_limits<decltype(value)>;
    if constexpr (Limits::is_integer) {
      return IntegerRange{static_cast<double>(Limits::min()), static_cast<double>(Limits::max())};
    }
    const double greatest = std::ldexp(1.0, Limits::digits);
    return IntegerRange{-greatest, greatest};
  });
}

bool IsFloat(ElementType type)
{
  return type == ElementType::Float32 || type == ElementType::Float64;
}

/// Returns whether the type `wide` represents all values of the type `narrow` exactly.
bool CanHold(ElementType wide, ElementType narrow)
{
  if (IsFloat(narrow)) {
    return wide == narrow || wide == ElementType::Float64;
  }
  const IntegerRange a = IntegerRangeOf(wide), b = IntegerRangeOf(narrow);
  return a.Least <= b.Least && b.Greatest <= a.Greatest;
}

/// Returns whether an array has values and all values are NaN.
bool IsUndefined(vtkDataArray* array)
{
  if (array->GetDataType() != VTK_FLOAT && array->GetDataType() != VTK_DOUBLE) {
    return false;
  }
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i) {
    for (int c = 0; c < array->GetNumberOfComponents(); ++c) {
      if (!std::isnan(array->GetComponent(i, c))) {
        return false;
      }
    }
  }
  return array->GetNumberOfTuples() > 0;
}

/// Adds descriptions of the selected cell arrays or point arrays to `descriptions`, see ArraysOf().
void AddArrays(vtkDataSet* grid, Centering center, const ArrayChoice& isSelected,
    std::vector<ArrayDescription>& descriptions, std::set<std::string>& notes)
{
  const bool cells = center == Centering::Cell;
  vtkDataSetAttributes* const attributes = filters::AttributesOf(grid, !cells);
  const vtkIdType tuples = cells ? grid->GetNumberOfCells() : grid->GetNumberOfPoints();
  const char* const centerName = cells ? "cell" : "point";
  for (int i = 0; i < attributes->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* const any = attributes->GetAbstractArray(i);
    vtkDataArray* const array = vtkDataArray::SafeDownCast(any);
    const std::string name = any->GetName() ? any->GetName() : "";
    const bool isFlags = name == vtkDataSetAttributes::GhostArrayName();
    if (!isFlags && !isSelected(name.c_str(), center)) {
      continue;
    }
    if (!array || name.empty() || array->GetNumberOfComponents() == 0) {
      notes.insert(fmt::format("The writer skips the {} array '{}', because {}.", centerName, PlainText(name),
          array ? name.empty() ? "the array has no name" : "the array has no components"
                : "PatchIO containers support only numbers"));
      continue;
    }
    if (array->GetNumberOfTuples() < tuples) {
      throw Error(fmt::format(
          "The {0} array '{1}' has values for {2} {0}s, but the grid has {3}. Correct the array's "
          "size.",
          centerName, PlainText(name), array->GetNumberOfTuples(), tuples));
    }
    if (!isFlags) {
      descriptions.push_back({name, center, array->GetNumberOfComponents(), TypeToWrite(array), false,
          IsUndefined(array), false, MeshRole::Values, 0});
    }
  }
}

}  // namespace

ElementType TypeToWrite(vtkDataArray* array)
{
  if (const std::optional<ElementType> same = ElementTypeOf(array)) {
    return *same;
  }
  switch (array->GetDataType()) {
    case VTK_BIT:
      return ElementType::UInt8;
    case VTK_CHAR:
      return std::is_signed_v<char> ? ElementType::Int8 : ElementType::UInt8;
    case VTK_LONG:
    case VTK_LONG_LONG:
    case VTK_ID_TYPE:
      return ElementType::Int64;
    case VTK_UNSIGNED_LONG:
    case VTK_UNSIGNED_LONG_LONG:
      return ElementType::UInt64;
    default:
      return ElementType::Float64;  // VTK converts the values of any array to double
  }
}

std::vector<ArrayDescription> ArraysOf(
    vtkDataSet* grid, const ArrayChoice& isSelected, std::set<std::string>& notes)
{
  std::vector<ArrayDescription> descriptions;
  AddArrays(grid, Centering::Cell, isSelected, descriptions, notes);
  AddArrays(grid, Centering::Node, isSelected, descriptions, notes);
  return descriptions;
}

std::optional<ElementType> CommonType(ElementType a, ElementType b)
{
  for (const ElementType type : TypesBySize) {
    if (CanHold(type, a) && CanHold(type, b)) {
      return type;
    }
  }
  return std::nullopt;
}

vtkSmartPointer<vtkDataArray> ArrayOf(vtkDataSet* grid, const ArrayDescription& description)
{
  if (description.Role != MeshRole::Values) {
    return MeshArrayOf(grid, description);
  }
  if (description.Positions) {
    auto* const points = vtkPointSet::SafeDownCast(grid);
    return points ? points->GetPoints()->GetData() : nullptr;
  }
  vtkDataSetAttributes* const attributes = filters::AttributesOf(grid, description.Center == Centering::Node);
  vtkDataArray* const array = attributes->GetArray(description.Name.c_str());
  return array || description.Name != FlagsName
             ? array
             : attributes->GetArray(vtkDataSetAttributes::GhostArrayName());
}

ValuesToWrite::ValuesToWrite(vtkSmartPointer<vtkDataArray> array, ElementType type, int components,
    const Box& whole, const Box& part, bool copies)
    : Array(std::move(array))
{
  const bool sameComponents = this->Array->GetNumberOfComponents() == components;
  if (ElementTypeOf(this->Array) != type || !this->Array->HasStandardMemoryLayout() || !sameComponents) {
    const auto converted =
        vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VtkTypeOf(type)));
    if (sameComponents) {
      converted->DeepCopy(this->Array);
    } else {
      converted->SetNumberOfComponents(components);
      converted->SetNumberOfTuples(this->Array->GetNumberOfTuples());
      for (int c = 0; c < components; ++c) {
        converted->CopyComponent(c, this->Array, c);
      }
    }
    this->Array = converted;
    this->CopiedBytes += static_cast<std::uint64_t>(converted->GetNumberOfValues()) * SizeOf(type);
  }
  if (!(whole == part)) {
    this->CopyBox(whole, part);
  } else if (copies && this->CopiedBytes == 0) {
    this->CopiedBytes = static_cast<std::uint64_t>(this->Array->GetNumberOfValues()) * SizeOf(type);
    this->Copy.reset(new std::byte[this->CopiedBytes]);
    std::memcpy(this->Copy.get(), this->Array->GetVoidPointer(0), this->CopiedBytes);
  }
  if (this->Copy) {
    this->Array = nullptr;
  }
}

void ValuesToWrite::CopyBox(const Box& whole, const Box& part)
{
  const std::size_t bytes =
      static_cast<std::size_t>(this->Array->GetDataTypeSize()) * this->Array->GetNumberOfComponents();
  const std::size_t row = bytes * static_cast<std::size_t>(part.Width(0));
  this->Copy.reset(new std::byte[bytes * static_cast<std::size_t>(part.CellCount())]);
  this->CopiedBytes += bytes * static_cast<std::size_t>(part.CellCount());
  const auto* const from = static_cast<const std::byte*>(this->Array->GetVoidPointer(0));
  std::byte* to = this->Copy.get();
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j, to += row) {
      std::memcpy(to, from + bytes * IndexIn(whole, {part.Lower[0], j, k}), row);
    }
  }
}

}  // namespace patchio
