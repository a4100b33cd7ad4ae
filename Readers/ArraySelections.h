// Which variables the user wants.
#ifndef ArraySelections_h
#define ArraySelections_h

#include "Catalog/Catalog.h"
#include "Session/LoadRequest.h"

#include <vtkDataArraySelection.h>
#include <vtkNew.h>

#include <vector>

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

  /// The largest ghost width among the selected variables; of curvilinear grids that of the coordinates.
  Int3 GhostsOf(const Catalog& catalog) const;
  /// The selected variables, and those that say where things lie.
  std::vector<VariableRequest> RequestsFor(const Catalog& catalog, const Int3& ghosts) const;

private:
  bool Selected(const Variable& variable) const;

  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  bool NewFiles = true;
  bool Offering = false;
};

}  // namespace patchio

#endif
