// Which variables the user wants.
#ifndef ArraySelections_h
#define ArraySelections_h

#include "Catalog/Catalog.h"
#include "Session/VariableChoice.h"

#include <vtkDataArraySelection.h>
#include <vtkNew.h>

namespace patchio {

/// Two lists of names, all on at first, for ParaView's panel.
class ArraySelections
{
public:
  vtkDataArraySelection* Cells() const { return this->CellArrays; }
  vtkDataArraySelection* Points() const { return this->PointArrays; }

  /// Other files than before: their variables replace the old ones at the next Offer().
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Puts the step's variables into the lists. Names that are known already keep their setting.
  void Offer(const Catalog& catalog);
  /// True while names are put in, which is no change by the user.
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
