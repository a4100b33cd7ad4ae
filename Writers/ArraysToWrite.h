// Converts VTK's arrays to the form that containers store.
#ifndef ArraysToWrite_h
#define ArraysToWrite_h

#include "InputTree.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio {

/// The name of the array that stores the flags of hidden cells or points if the levels of the container
/// cannot represent the flags.
constexpr const char* FlagsName = "ghost flags";

/// A function that returns whether the user has selected an array.
using ArrayChoice = std::function<bool(const char* name, Centering center)>;

/// Returns the type of PatchIO that represents the values of an array.
ElementType TypeToWrite(vtkDataArray* array);

/// Returns descriptions of the selected arrays of a grid, without its ghost flags. Skips arrays without a
/// name, components or numbers, and adds a message about each skipped array to `notes`. Throws Error if an
/// array or the ghost flags have fewer values than the grid has cells or points.
std::vector<ArrayDescription> ArraysOf(
    vtkDataSet* grid, const ArrayChoice& isSelected, std::set<std::string>& notes);

/// Returns the smallest type that can represent all values of both types; nullopt if no type can.
std::optional<ElementType> CommonType(ElementType a, ElementType b);

/// Returns the array of a grid that `description` describes; null if the grid has no such array.
vtkSmartPointer<vtkDataArray> ArrayOf(vtkDataSet* grid, const ArrayDescription& description);

/// The values of an array in the form that containers store: of a type of PatchIO, with the components of
/// each tuple side by side.
class ValuesToWrite
{
public:
  /// Converts the values in the box `part` of `array`, which has the values in the box `whole`, to `type`.
  /// `components`: number of components to write, from the first on. `copies`: true copies the values even if
  /// the array already has this form, because other code may change the array.
  ValuesToWrite(vtkSmartPointer<vtkDataArray> array, ElementType type, int components, const Box& whole,
      const Box& part, bool copies);

  /// Returns the values, which are valid as long as this object exists.
  const void* Data() const { return this->Copy ? this->Copy.get() : this->Array->GetVoidPointer(0); }
  /// Returns the number of bytes that this object has allocated for converted and copied values.
  std::uint64_t Bytes() const { return this->CopiedBytes; }

private:
  /// Sets Copy to the values in the box `part`.
  void CopyBox(const Box& whole, const Box& part);

  vtkSmartPointer<vtkDataArray> Array;
  std::unique_ptr<std::byte[]> Copy;  ///< the values; null: Array has the values
  std::uint64_t CopiedBytes = 0;
};

/// Sets the grid type, the sizes and the mesh arrays of `piece` from a mesh. Returns false if `grid` is
/// neither an unstructured grid nor poly data. Throws Error if the grid has polyhedra.
bool DescribeMesh(vtkDataSet* grid, GridPiece& piece);

/// Returns an array that is part of a mesh (points, connectivity, offsets, types or ghost flags); null if the
/// grid has no such array.
vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayDescription& description);

}  // namespace patchio

#endif
