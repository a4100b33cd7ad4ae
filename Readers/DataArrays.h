// Converts the arrays that Core has read to VTK's arrays.
#ifndef DataArrays_h
#define DataArrays_h

#include "Catalog/Location.h"
#include "Io/MemoryPool.h"
#include "Read/LoadRequest.h"

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// Returns PatchIO's type for the VTK type of an array (GetDataType()), the inverse of VtkTypeOf(); nullopt
/// for other types, such as VTK_ID_TYPE and VTK_CHAR.
std::optional<ElementType> ElementTypeOf(const vtkDataArray* array);
/// Returns VTK's constant for a type, such as VTK_FLOAT for Float32.
int VtkTypeOf(ElementType type);

/// Moves the values of `loaded` to an array of VTK without a copy. The result owns the memory. `loaded` loses
/// its values.
vtkSmartPointer<vtkDataArray> MoveToVtkArray(LoadedArray& loaded, const std::string& name);

/// Allocates an array with undefined values. `points`: number of points of the grid. The memory has room for
/// at least `points` tuples, because VTK's Warp By Scalar and other filters read values of cells as values of
/// points. Throws Error if the limit of the pool or the memory of the machine does not suffice.
LoadedArray AllocateArray(
    MemoryPool& pool, ElementType type, int components, std::int64_t tuples, std::int64_t points);

/// Sets all components of all tuples to `value`; nullopt: to NaN, or to 0 if the type is an integer.
void FillArray(LoadedArray& array, std::optional<double> value);

/// Returns an array of three components from two or three arrays with one component, of the type `type` and
/// of equal lengths. A missing third component is 0. `points`: see AllocateArray(). Throws Error, see
/// AllocateArray().
LoadedArray ComposeVector(
    ElementType type, const std::vector<vtkDataArray*>& components, std::int64_t points, MemoryPool& pool);

/// Makes arrays whose values are all equal. Arrays of the same type and value share their memory, so that
/// many blocks of one size need the memory of one array. Thread-safe.
class ConstantArrays
{
public:
  /// Keeps a reference to `pool`.
  explicit ConstantArrays(MemoryPool& pool) : Pool(pool) {}

  /// Returns an array of `tuples` tuples. `points`: see AllocateArray(). `value`: see FillArray(). Throws
  /// Error if the memory does not suffice.
  vtkSmartPointer<vtkDataArray> MakeArray(const std::string& name, ElementType type, int components,
      std::int64_t tuples, std::int64_t points, std::optional<double> value);

private:
  MemoryPool& Pool;
  std::mutex Mutex;
  /// The longest array of each type and value.
  std::map<std::pair<ElementType, std::optional<double>>, LoadedArray> Memory;
};

}  // namespace patchio

#endif
