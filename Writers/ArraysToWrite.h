// Arrays of VTK as a container takes them.
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

/// What becomes of the flags of hidden cells or points that the levels do not tell: an ordinary array.
constexpr const char* FlagsName = "ghost flags";

/// Whether the user wants an array.
using ArrayChoice = std::function<bool(const char* name, Centering center)>;

/// The wanted arrays of a grid, without its flags. What cannot be written is left out, and `notes` gets a
/// sentence; throws Error for numbers that no type of a container holds.
std::vector<ArrayForm> ArraysOf(vtkDataSet* grid, const ArrayChoice& isWanted, std::set<std::string>& notes);

/// The type that holds all values of both; nullopt: none.
std::optional<ElementType> CommonType(ElementType a, ElementType b);

/// The array that a form describes; null where the grid has none.
vtkSmartPointer<vtkDataArray> ArrayOf(vtkDataSet* grid, const ArrayForm& form);

/// Values with their components side by side, of a type of a container.
class ValuesToWrite
{
public:
  /// part: the values wanted, of those at `whole`. components: the first ones are taken. copies: also where
  /// the array has the values as they are wanted, as others may change it.
  ValuesToWrite(vtkSmartPointer<vtkDataArray> array, ElementType type, int components, const Box& whole,
      const Box& part, bool copies);

  const void* Data() const { return this->Cut ? this->Cut.get() : this->Array->GetVoidPointer(0); }
  /// Bytes of memory that was needed for them, beside the array's.
  std::uint64_t Bytes() const { return this->CopiedBytes; }

private:
  void CutOut(const Box& whole, const Box& part);

  vtkSmartPointer<vtkDataArray> Array;
  std::unique_ptr<std::byte[]> Cut;
  std::uint64_t CopiedBytes = 0;
};

}  // namespace patchio

#endif
