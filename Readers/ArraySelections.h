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

  /// Makes the next Offer() replace the lists. Call it when the reader gets other files.
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Makes MissingArraysMessage() report missing arrays again. Call it when other files may have replaced the
  /// opened ones.
  void ForgetKnown() { this->Known.clear(); }
  /// Adds the step's variables to the lists. Known names keep their setting.
  void Offer(const Catalog& catalog);
  /// Returns whether Offer() is adding names, which is not a change by the user.
  bool IsOffering() const { return this->Offering; }

  /// Returns a message about selected arrays that no step opened so far has; empty if there are none. Reports
  /// each array once. catalog: the argument of the last Offer().
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
