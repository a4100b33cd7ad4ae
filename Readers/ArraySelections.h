// The variables that the user has selected.
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

/// Two lists of names for ParaView's panel. At first all are on.
class ArraySelections
{
public:
  vtkDataArraySelection* Cells() const { return this->CellArrays; }
  vtkDataArraySelection* Points() const { return this->PointArrays; }

  /// There are other files now: their variables replace the old ones at the next Offer().
  void ExpectNewFiles() { this->NewFiles = true; }
  /// Makes TakeMissingText() tell of names again that files had which may have been replaced.
  void ForgetKnown() { this->Known.clear(); }
  /// Adds the step's variables to the lists. Known names keep their setting.
  void Offer(const Catalog& catalog);
  /// True while names are added, which is not a change by the user.
  bool IsOffering() const { return this->Offering; }

  /// What is to be said about names that were chosen though no step that was opened has them; each name
  /// once. Empty where there is nothing to say. `catalog` is the step that was offered last.
  std::string TakeMissingText(const Catalog& catalog);

  /// The names that are switched off.
  VariableChoice Choice() const;

private:
  using Choosable = std::pair<Centering, std::string>;

  vtkDataArraySelection* ListOf(Centering centering) const
  {
    return centering == Centering::Cell ? this->CellArrays : this->PointArrays;
  }
  void DropStrangers(const Catalog& catalog, Centering centering);

  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  std::set<Choosable> Known;    ///< arrays that some step had, of any file, and those that were told
  std::set<Choosable> Dropped;  ///< by Offer(), although they were chosen
  bool NewFiles = true;
  bool Offering = false;
};

}  // namespace patchio

#endif
