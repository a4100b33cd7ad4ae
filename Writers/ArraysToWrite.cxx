#include "ArraysToWrite.h"

#include "Base/Error.h"
#include "DataArrays.h"

#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
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

constexpr ElementType TypesBySize[] = {ElementType::UInt8, ElementType::Int8, ElementType::Int16,
    ElementType::UInt16, ElementType::Int32, ElementType::UInt32, ElementType::Float32, ElementType::Int64,
    ElementType::UInt64, ElementType::Float64};

/// The range of the whole numbers that a type holds exactly.
struct WholeNumbers
{
  double Least, Greatest;
};

WholeNumbers WholeNumbersOf(ElementType type)
{
  return VisitType(type, [](auto value) {
    using Limits = std::numeric_limits<decltype(value)>;
    if constexpr (Limits::is_integer) {
      return WholeNumbers{static_cast<double>(Limits::min()), static_cast<double>(Limits::max())};
    }
    const double most = std::ldexp(1.0, Limits::digits);
    return WholeNumbers{-most, most};
  });
}

bool IsFloat(ElementType type)
{
  return type == ElementType::Float32 || type == ElementType::Float64;
}

bool Holds(ElementType wide, ElementType narrow)
{
  if (IsFloat(narrow)) {
    return wide == narrow || wide == ElementType::Float64;
  }
  const WholeNumbers a = WholeNumbersOf(wide), b = WholeNumbersOf(narrow);
  return a.Least <= b.Least && b.Greatest <= a.Greatest;
}

/// Returns the container's type for an array; nullopt if no type holds the array's numbers.
std::optional<ElementType> TypeToWrite(vtkDataArray* array)
{
  if (const std::optional<ElementType> same = ElementTypeOf(array)) {
    return same;
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
      return std::nullopt;
  }
}

bool IsBlank(vtkDataArray* array)
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

void AddArrays(vtkDataSetAttributes* attributes, Centering center, const ArrayChoice& isWanted,
    std::vector<ArrayForm>& forms, std::set<std::string>& notes)
{
  const char* const kind = center == Centering::Cell ? "cell" : "point";
  for (int i = 0; i < attributes->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* const any = attributes->GetAbstractArray(i);
    vtkDataArray* const array = vtkDataArray::SafeDownCast(any);
    const std::string name = any->GetName() ? any->GetName() : "";
    if (name == vtkDataSetAttributes::GhostArrayName() || !isWanted(name.c_str(), center)) {
      continue;
    }
    if (!array || name.empty() || array->GetNumberOfComponents() == 0) {
      notes.insert(fmt::format("Skipping the {} array '{}': {}.", kind, PlainText(name),
          array ? name.empty() ? "it has no name" : "it has no components"
                : "PatchIO containers support only numbers"));
      continue;
    }
    const std::optional<ElementType> type = TypeToWrite(array);
    if (!type) {
      throw Error(
          fmt::format("The {} array '{}' has the type {}, which PatchIO containers do not support. Deselect "
                      "it (Choose Arrays To Write), or convert it (Calculator).",
              kind, PlainText(name), array->GetDataTypeAsString()));
    }
    forms.push_back({name, center, array->GetNumberOfComponents(), *type, false, IsBlank(array), false,
        MeshRole::Values, 0});
  }
}

}  // namespace

std::vector<ArrayForm> ArraysOf(vtkDataSet* grid, const ArrayChoice& isWanted, std::set<std::string>& notes)
{
  std::vector<ArrayForm> forms;
  AddArrays(grid->GetCellData(), Centering::Cell, isWanted, forms, notes);
  AddArrays(grid->GetPointData(), Centering::Node, isWanted, forms, notes);
  return forms;
}

std::optional<ElementType> CommonType(ElementType a, ElementType b)
{
  for (const ElementType type : TypesBySize) {
    if (Holds(type, a) && Holds(type, b)) {
      return type;
    }
  }
  return std::nullopt;
}

vtkSmartPointer<vtkDataArray> ArrayOf(vtkDataSet* grid, const ArrayForm& form)
{
  if (form.Role != MeshRole::Values) {
    return MeshArrayOf(grid, form);
  }
  if (form.Positions) {
    auto* const points = vtkPointSet::SafeDownCast(grid);
    return points ? points->GetPoints()->GetData() : nullptr;
  }
  const bool cells = form.Center == Centering::Cell;
  vtkDataSetAttributes* const attributes =
      cells ? static_cast<vtkDataSetAttributes*>(grid->GetCellData()) : grid->GetPointData();
  vtkDataArray* const array = attributes->GetArray(form.Name.c_str());
  return array || form.Name != FlagsName ? array
                                         : attributes->GetArray(vtkDataSetAttributes::GhostArrayName());
}

ValuesToWrite::ValuesToWrite(vtkSmartPointer<vtkDataArray> array, ElementType type, int components,
    const Box& whole, const Box& part, bool copies)
    : Array(std::move(array))
{
  const bool sameComponents = this->Array->GetNumberOfComponents() == components;
  if (ElementTypeOf(this->Array) != type || !this->Array->HasStandardMemoryLayout() || !sameComponents) {
    const auto made = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VtkTypeOf(type)));
    if (sameComponents) {
      made->DeepCopy(this->Array);
    } else {
      made->SetNumberOfComponents(components);
      made->SetNumberOfTuples(this->Array->GetNumberOfTuples());
      for (int c = 0; c < components; ++c) {
        made->CopyComponent(c, this->Array, c);
      }
    }
    this->Array = made;
    this->CopiedBytes += static_cast<std::uint64_t>(made->GetNumberOfValues()) * SizeOf(type);
  }
  if (!(whole == part)) {
    this->CutOut(whole, part);
  } else if (copies && this->CopiedBytes == 0) {
    this->CopiedBytes = static_cast<std::uint64_t>(this->Array->GetNumberOfValues()) * SizeOf(type);
    this->Cut.reset(new std::byte[this->CopiedBytes]);
    std::memcpy(this->Cut.get(), this->Array->GetVoidPointer(0), this->CopiedBytes);
  }
  if (this->Cut) {
    this->Array = nullptr;
  }
}

void ValuesToWrite::CutOut(const Box& whole, const Box& part)
{
  const std::size_t bytes =
      static_cast<std::size_t>(this->Array->GetDataTypeSize()) * this->Array->GetNumberOfComponents();
  const std::size_t row = bytes * static_cast<std::size_t>(part.Width(0));
  this->Cut.reset(new std::byte[bytes * static_cast<std::size_t>(part.Cells())]);
  this->CopiedBytes += bytes * static_cast<std::size_t>(part.Cells());
  const auto* const from = static_cast<const std::byte*>(this->Array->GetVoidPointer(0));
  std::byte* to = this->Cut.get();
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j, to += row) {
      std::memcpy(to, from + bytes * IndexIn(whole, {part.Lower[0], j, k}), row);
    }
  }
}

}  // namespace patchio
