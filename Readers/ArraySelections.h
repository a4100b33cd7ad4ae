// The variables that the user has selected.
#ifndef ArraySelections_h
#define ArraySelections_h

#include "Catalog/Catalog.h"
#include "Session/VariableChoice.h"

#include <vtkDataArraySelection.h>
#include <vtkNew.h>

namespace patchio {

/// Two lists of names for ParaView's panel. At first all are on.
class ArraySelections
{
public:
  vtkDataArraySelection* Cells() const { return this->CellArrays; }
  vtkDataArraySelection* Points() const { return this->PointArrays; }

  /// There are other files now: their variables replace the old ones at the next Offer().
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Adds the step's variables to the lists. Known names keep their setting.
  void Offer(const Catalog& catalog);
  /// True while names are added, which is not a change by the user.
  bool IsOffering() const { return this->Offering; }

  /// The names that are switched off.
  VariableChoice Choice() const;

private:
  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  bool NewFiles = true;
  bool Offering = false;
};

}  // namespace patchio

#endif
