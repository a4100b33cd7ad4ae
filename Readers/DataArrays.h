// VTK's arrays of the values that Core has read.
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

/// Returns the type of an array's values; nullopt for types that PatchIO does not read.
std::optional<ElementType> ElementTypeOf(const vtkDataArray* array);
/// Returns VTK's constant for a type, such as VTK_FLOAT.
int VtkTypeOf(ElementType type);

/// Moves the values into an array of VTK without a copy; the array frees them.
vtkSmartPointer<vtkDataArray> TakeOver(LoadedArray& loaded, const std::string& name);

/// Allocates an array with undefined values, for TakeOver(). points: number of points of the grid. The memory
/// has room for at least `points` tuples, because VTK's Warp By Scalar and other filters read values of cells
/// as values of points. Throws Error if the pool's limit or the machine's memory does not suffice.
LoadedArray AllocateArray(
    MemoryPool& pool, ElementType type, int components, std::int64_t tuples, std::int64_t points);

/// Sets the number of tuples of an array that owns its memory to that of a grid's cells. The memory has room
/// for at least `points` tuples, as in AllocateArray().
void SetTuplesOfCells(vtkDataArray* array, std::int64_t cells, std::int64_t points);

/// Sets all components of all tuples to the value; nullopt: to NaN, or to 0 if the type is an integer.
void FillWith(LoadedArray& array, std::optional<double> value);

/// Returns an array of three components from two or three arrays of this type and of equal lengths; a missing
/// third component is 0. points: see AllocateArray(). Throws Error as AllocateArray() does.
LoadedArray ComposeVector(
    ElementType type, const std::vector<vtkDataArray*>& components, std::int64_t points, MemoryPool& pool);

/// Makes arrays that have one value everywhere. Arrays of one type and value share their memory, so that many
/// blocks need no more memory than the largest block. Thread-safe.
class ConstantArrays
{
public:
  /// Keeps a reference to the pool.
  explicit ConstantArrays(MemoryPool& pool) : Pool(pool) {}

  /// Returns an array of `tuples` tuples. points: see AllocateArray(). value: see FillWith(). Throws Error if
  /// memory does not suffice.
  vtkSmartPointer<vtkDataArray> Make(const std::string& name, ElementType type, int components,
      std::int64_t tuples, std::int64_t points, std::optional<double> value);

private:
  MemoryPool& Pool;
  std::mutex Mutex;
  std::map<std::pair<ElementType, std::optional<double>>, LoadedArray> Memory;
};

}  // namespace patchio

#endif
