// VTK's arrays in the form that a container takes.
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

/// The name of the ordinary array that stores flags of hidden cells or points if the levels cannot express
/// them.
constexpr const char* FlagsName = "ghost flags";

/// Returns whether the user wants an array.
using ArrayChoice = std::function<bool(const char* name, Centering center)>;

/// Returns the wanted arrays of a grid, without its flags. Skips arrays that cannot be written, and adds a
/// sentence about each to `notes`. Throws Error for a type of numbers that a container cannot hold.
std::vector<ArrayForm> ArraysOf(vtkDataSet* grid, const ArrayChoice& isWanted, std::set<std::string>& notes);

/// Returns the smallest type that holds all values of both types; nullopt if there is no such type.
std::optional<ElementType> CommonType(ElementType a, ElementType b);

/// Returns the array that a form describes; null if the grid has none.
vtkSmartPointer<vtkDataArray> ArrayOf(vtkDataSet* grid, const ArrayForm& form);

/// Values of an array in the form that a container takes: of a type of the container, with the components of
/// each tuple side by side.
class ValuesToWrite
{
public:
  /// Takes the values in the box `part` from an array over the box `whole`, converted to `type`. components:
  /// number of components to take, from the first one on. copies: copies the values even if the array has
  /// them in this form, because other code may change the array.
  ValuesToWrite(vtkSmartPointer<vtkDataArray> array, ElementType type, int components, const Box& whole,
      const Box& part, bool copies);

  const void* Data() const { return this->Cut ? this->Cut.get() : this->Array->GetVoidPointer(0); }
  /// Returns the bytes of memory that this object needs in addition to the array's own.
  std::uint64_t Bytes() const { return this->CopiedBytes; }

private:
  void CutOut(const Box& whole, const Box& part);

  vtkSmartPointer<vtkDataArray> Array;
  std::unique_ptr<std::byte[]> Cut;
  std::uint64_t CopiedBytes = 0;
};

/// Sets in `form` the kind of the grid, its sizes and the arrays that make it up. Returns false if the grid
/// is neither unstructured nor polygons. Throws Error for cells that a container cannot hold.
bool TakeMesh(vtkDataSet* grid, PieceForm& form);

/// Returns one of the arrays that make up the grid, or its flags; null if the grid has none.
vtkDataArray* MeshArrayOf(vtkDataSet* grid, const ArrayForm& form);

}  // namespace patchio

#endif
