// The user's selection of variables.
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

/// The cell arrays and the point arrays in the lists of ParaView's panel. All are on at first.
class ArraySelections
{
public:
  vtkDataArraySelection* Cells() const { return this->CellArrays; }
  vtkDataArraySelection* Points() const { return this->PointArrays; }

  /// Makes the next Offer() replace the lists, because the reader has other files now.
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Makes MissingArraysMessage() report names again, because the files that had them may have been replaced.
  void ForgetKnown() { this->Known.clear(); }
  /// Adds the step's variables to the lists. Known names keep their setting.
  void Offer(const Catalog& catalog);
  /// Returns whether Offer() is adding names, which is not a change by the user.
  bool IsOffering() const { return this->Offering; }

  /// Returns a message about selected names that no step opened so far has; each name is reported once. Empty
  /// if there are none. catalog: the step that was offered last.
  std::string MissingArraysMessage(const Catalog& catalog);

  /// Returns the names that are switched off.
  VariableChoice Choice() const;

private:
  using Choosable = std::pair<Centering, std::string>;

  vtkDataArraySelection* ListOf(Centering centering) const
  {
    return centering == Centering::Cell ? this->CellArrays : this->PointArrays;
  }
  void RemoveUnknown(const Catalog& catalog, Centering centering);

  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  std::set<Choosable> Known;    ///< arrays that some step of any file had, and arrays that were reported
  std::set<Choosable> Dropped;  ///< selected arrays that Offer() has removed
  bool NewFiles = true;
  bool Offering = false;
};

}  // namespace patchio

#endif
