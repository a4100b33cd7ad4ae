#include "DataArrays.h"

#include "KnownRanges.h"

#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkIntArray.h>
#include <vtkShortArray.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnsignedShortArray.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace patchio {
namespace {

vtkSmartPointer<vtkDataArray> MakeDataArray(ElementType type)
{
  switch (type) {
    case ElementType::Int32:
      return vtkSmartPointer<vtkIntArray>::New();
    case ElementType::Int64:
      return vtkSmartPointer<vtkTypeInt64Array>::New();
    case ElementType::UInt8:
      return vtkSmartPointer<vtkUnsignedCharArray>::New();
    case ElementType::Int16:
      return vtkSmartPointer<vtkShortArray>::New();
    case ElementType::UInt16:
      return vtkSmartPointer<vtkUnsignedShortArray>::New();
    case ElementType::Float64:
      return vtkSmartPointer<vtkDoubleArray>::New();
    case ElementType::Float32:
      break;
  }
  return vtkSmartPointer<vtkFloatArray>::New();
}

template <typename Value>
void FillValues(void* values, std::int64_t count, std::optional<double> value)
{
  // Integers have no such value: quiet_NaN() is 0.
  const Value filling = value ? static_cast<Value>(*value) : std::numeric_limits<Value>::quiet_NaN();
  std::fill_n(static_cast<Value*>(values), count, filling);
}

/// Values are copied as what they are, whole numbers of their size among others.
template <typename Bits>
void Interleave(const std::vector<vtkDataArray*>& components, void* into)
{
  const auto values = [&](std::size_t c) {
    return static_cast<const Bits*>(components[c]->GetVoidPointer(0));
  };
  const Bits *const x = values(0), *const y = values(1),
                    *const z = components.size() > 2 ? values(2) : nullptr;
  const auto tuples = static_cast<std::size_t>(components[0]->GetNumberOfTuples());
  auto* to = static_cast<Bits*>(into);
  for (std::size_t i = 0; i < tuples; ++i, to += 3) {
    to[0] = x[i];
    to[1] = y[i];
    to[2] = z ? z[i] : Bits(0);
  }
}

}  // namespace

vtkSmartPointer<vtkDataArray> TakeOver(LoadedArray& loaded, const std::string& name)
{
  vtkSmartPointer<vtkDataArray> array = MakeDataArray(loaded.Type);
  array->SetName(name.c_str());
  array->SetNumberOfComponents(loaded.Components);
  array->SetVoidArray(loaded.Values.release(), loaded.Tuples * loaded.Components, 0,
      vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  array->SetArrayFreeFunction(FreeBuffer);
  SetKnownRange(array, loaded.Range);
  return array;
}

LoadedArray AllocateArray(MemoryPool& pool, ElementType type, int components, std::int64_t tuples)
{
  const std::uint64_t bytes = static_cast<std::uint64_t>(tuples) * components * SizeOf(type);
  LoadedArray array;
  array.Status = ArrayStatus::Read;
  array.Type = type;
  array.Components = components;
  array.Tuples = tuples;
  array.Values = MemoryArena(pool, bytes, 1).Cut(bytes);
  return array;
}

void FillWith(LoadedArray& array, std::optional<double> value)
{
  const std::int64_t count = array.Tuples * array.Components;
  switch (array.Type) {
    case ElementType::Int32:
      return FillValues<std::int32_t>(array.Values.get(), count, value);
    case ElementType::Int64:
      return FillValues<std::int64_t>(array.Values.get(), count, value);
    case ElementType::UInt8:
      return FillValues<std::uint8_t>(array.Values.get(), count, value);
    case ElementType::Int16:
      return FillValues<std::int16_t>(array.Values.get(), count, value);
    case ElementType::UInt16:
      return FillValues<std::uint16_t>(array.Values.get(), count, value);
    case ElementType::Float64:
      return FillValues<double>(array.Values.get(), count, value);
    case ElementType::Float32:
      return FillValues<float>(array.Values.get(), count, value);
  }
}

LoadedArray ComposeVector(ElementType type, const std::vector<vtkDataArray*>& components, MemoryPool& pool)
{
  LoadedArray vector = AllocateArray(pool, type, 3, components[0]->GetNumberOfTuples());
  switch (SizeOf(type)) {
    case 1:
      Interleave<std::uint8_t>(components, vector.Values.get());
      break;
    case 2:
      Interleave<std::uint16_t>(components, vector.Values.get());
      break;
    case 4:
      Interleave<std::uint32_t>(components, vector.Values.get());
      break;
    default:
      Interleave<std::uint64_t>(components, vector.Values.get());
  }
  vector.Range.Add(type, 3, vector.Values.get(), static_cast<std::size_t>(vector.Tuples));
  return vector;
}

vtkSmartPointer<vtkDataArray> ConstantArrays::Make(const std::string& name, ElementType type, int components,
    std::int64_t tuples, std::optional<double> value)
{
  LoadedArray& shared = this->Memory[{type, value}];
  if (!shared.Values || shared.Tuples < tuples * components) {
    shared = AllocateArray(this->Pool, type, 1, tuples * components);
    FillWith(shared, value);
  }
  LoadedArray array = ShareArray(shared);
  array.Components = components;
  array.Tuples = tuples;
  vtkSmartPointer<vtkDataArray> made = TakeOver(array, name);
  SetConstantRange(made, value);
  return made;
}

}  // namespace patchio
