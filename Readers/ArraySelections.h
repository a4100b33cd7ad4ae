// The arrays that the user has selected.
#ifndef ArraySelections_h
#define ArraySelections_h

#include "Catalog/Catalog.h"
#include "Read/ReadRequest.h"

#include <vtkDataArraySelection.h>
#include <vtkNew.h>

#include <set>
#include <string>
#include <utility>

namespace patchio {

/// The lists of cell arrays and point arrays in ParaView's panel. New arrays are selected.
class ArraySelections
{
public:
  vtkDataArraySelection* CellSelection() const { return this->CellArrays; }
  vtkDataArraySelection* PointSelection() const { return this->PointArrays; }

  /// Makes the next AddArrays() remove the arrays that the step lacks. The caller calls this function when
  /// the reader gets other files.
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Makes MissingArraysMessage() report missing arrays again. The caller calls this function when other
  /// files may have replaced the opened files.
  void ForgetKnownArrays() { this->KnownArrays.clear(); }
  /// Adds the variables of the step `catalog`, except geometry and flags, to the lists. Arrays that are
  /// already in the lists keep their setting. See ExpectNewFiles().
  void AddArrays(const Catalog& catalog);
  /// Returns whether AddArrays() is running. Changes of the lists are then not made by the user.
  bool IsAddingArrays() const { return this->AddingArrays; }

  /// Returns a message about the selected arrays that no opened step has; empty if no array is missing.
  /// Reports each array once. `catalog`: the argument of the last AddArrays().
  std::string MissingArraysMessage(const Catalog& catalog);

  /// Returns the names of the arrays that are not selected.
  VariableChoice Choice() const;

private:
  /// The centering and the name of an array.
  using CenteredName = std::pair<Centering, std::string>;

  vtkDataArraySelection* SelectionOf(Centering centering) const
  {
    return centering == Centering::Cell ? this->CellArrays : this->PointArrays;
  }
  void RemoveMissingArrays(const Catalog& catalog, Centering centering);

  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  std::set<CenteredName> KnownArrays;  ///< arrays of all opened steps, and reported arrays
  /// Selected arrays that AddArrays() has removed and that are not reported yet.
  std::set<CenteredName> RemovedArrays;
  bool NewFiles = true;  ///< see ExpectNewFiles()
  bool AddingArrays = false;
};

}  // namespace patchio

#endif
