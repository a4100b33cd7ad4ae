// VTK's arrays of values that PatchIO's engine holds.
#ifndef DataArrays_h
#define DataArrays_h

#include "Catalog/Extent.h"
#include "Memory/MemoryPool.h"
#include "Session/LoadRequest.h"

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// Hands the values over without a copy; the array frees them.
vtkSmartPointer<vtkDataArray> TakeOver(LoadedArray& loaded, const std::string& name);

/// Memory for an array that is filled here, as TakeOver() wants it; contents undefined. Throws Error when the
/// pool's limit or the machine's memory does not suffice.
LoadedArray AllocateArray(MemoryPool& pool, ElementType type, int components, std::int64_t tuples);

/// The value in each component of each tuple; nullopt: what stands for no value, NaN or, where the type is an
/// integer, 0.
void FillWith(LoadedArray& array, std::optional<double> value);

/// An array of three components from one for each, of this type and of equal lengths; a third component that
/// is not there is 0. Throws Error as AllocateArray() does.
LoadedArray ComposeVector(ElementType type, const std::vector<vtkDataArray*>& components, MemoryPool& pool);

/// Arrays that have one value everywhere. Those of one type and value share memory, so many blocks cost no
/// more than the largest.
class ConstantArrays
{
public:
  /// Keeps a reference to the pool.
  explicit ConstantArrays(MemoryPool& pool) : Pool(pool) {}

  /// value: see FillWith(). Throws Error when memory does not suffice.
  vtkSmartPointer<vtkDataArray> Make(const std::string& name, ElementType type, int components,
      std::int64_t tuples, std::optional<double> value);

private:
  MemoryPool& Pool;
  std::map<std::pair<ElementType, std::optional<double>>, LoadedArray> Memory;
};

}  // namespace patchio

#endif
