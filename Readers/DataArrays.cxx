#include "DataArrays.h"

#include "KnownRanges.h"

#include <vtkType.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

namespace patchio {
namespace {

constexpr std::pair<ElementType, int> VtkTypes[] = {{ElementType::Float32, VTK_FLOAT},
    {ElementType::Float64, VTK_DOUBLE}, {ElementType::Int32, VTK_INT}, {ElementType::Int64, VTK_TYPE_INT64},
    {ElementType::UInt8, VTK_UNSIGNED_CHAR}, {ElementType::Int16, VTK_SHORT},
    {ElementType::UInt16, VTK_UNSIGNED_SHORT}, {ElementType::Int8, VTK_SIGNED_CHAR},
    {ElementType::UInt32, VTK_UNSIGNED_INT}, {ElementType::UInt64, VTK_TYPE_UINT64}};

/// Returns an array of VTK over the memory `values`, of the type and size of `like`. `borrowsMemory`: true if
/// the array does not free the memory.
vtkSmartPointer<vtkDataArray> ArrayOnMemory(void* values, const LoadedArray& like, bool borrowsMemory)
{
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VtkTypeOf(like.Type)));
  array->SetNumberOfComponents(like.Components);
  array->SetVoidArray(values, like.Tuples * like.Components, borrowsMemory ? 1 : 0,
      vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  return array;
}

}  // namespace

std::optional<ElementType> ElementTypeOf(const vtkDataArray* array)
{
  for (const auto& [type, vtkType] : VtkTypes) {
    if (vtkType == array->GetDataType()) {
      return type;
    }
  }
  return std::nullopt;
}

int VtkTypeOf(ElementType type)
{
  return std::find_if(std::begin(VtkTypes), std::end(VtkTypes), [type](const auto& pair) {
    return pair.first == type;
  })->second;
}

vtkSmartPointer<vtkDataArray> MoveToVtkArray(LoadedArray& loaded, const std::string& name)
{
  vtkSmartPointer<vtkDataArray> array = ArrayOnMemory(loaded.Values.release(), loaded, false);
  array->SetName(name.c_str());
  array->SetArrayFreeFunction(FreeBuffer);
  SetKnownRange(array, loaded.Range);
  return array;
}

LoadedArray AllocateArray(
    MemoryPool& pool, ElementType type, int components, std::int64_t tuples, std::int64_t points)
{
  const std::uint64_t tupleBytes = components * SizeOf(type);
  const std::uint64_t bytes = static_cast<std::uint64_t>(tuples) * tupleBytes;
  const std::uint64_t extraBytes = std::max<std::int64_t>(points - tuples, 0) * tupleBytes;
  LoadedArray array;
  array.Status = ArrayStatus::Read;
  array.Type = type;
  array.Components = components;
  array.Tuples = tuples;
  array.Values = MemoryArena(pool, bytes, 1, extraBytes).Allocate(bytes);
  return array;
}

void FillArray(LoadedArray& array, std::optional<double> value)
{
  const bool hasNan = array.Type == ElementType::Float32 || array.Type == ElementType::Float64;
  const double missing = hasNan ? std::numeric_limits<double>::quiet_NaN() : 0;
  ArrayOnMemory(array.Values.get(), array, true)->Fill(value.value_or(missing));
}

LoadedArray ComposeVector(
    ElementType type, const std::vector<vtkDataArray*>& components, std::int64_t points, MemoryPool& pool)
{
  LoadedArray vector = AllocateArray(pool, type, 3, components[0]->GetNumberOfTuples(), points);
  const vtkSmartPointer<vtkDataArray> into = ArrayOnMemory(vector.Values.get(), vector, true);
  for (int c = 0; c < 3; ++c) {
    if (c < static_cast<int>(components.size())) {
      into->CopyComponent(c, components[c], 0);
    } else {
      into->FillComponent(c, 0);
    }
  }
  vector.Range.Add(type, 3, vector.Values.get(), static_cast<std::size_t>(vector.Tuples));
  return vector;
}

vtkSmartPointer<vtkDataArray> ConstantArrays::MakeArray(const std::string& name, ElementType type,
    int components, std::int64_t tuples, std::int64_t points, std::optional<double> value)
{
  const std::int64_t values = std::max(tuples, points) * components;
  LoadedArray array;
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    LoadedArray& shared = this->Memory[{type, value}];
    if (!shared.Values || shared.Tuples < values) {
      shared = AllocateArray(this->Pool, type, 1, values, values);
      FillArray(shared, value);
    }
    array = ShareArray(shared);
  }
  array.Components = components;
  array.Tuples = tuples;
  vtkSmartPointer<vtkDataArray> vtkArray = MoveToVtkArray(array, name);
  SetConstantRange(vtkArray, value);
  return vtkArray;
}

}  // namespace patchio
