/**
 * @class vtkPatchVisibleSelection
 * @brief Extract Selection without hidden cells
 *
 * Queries also select hidden, refined and ghost cells, and vtkExtractSelection extracts all selected cells.
 * This class removes the hidden, refined and ghost cells, and the array of their flags, from the result. If
 * PreserveTopology is on, the result keeps all cells and flags, and the array vtkInsidedness marks these
 * cells as outside.
 *
 * While the plugin is loaded, ParaView's Extract Selection is this class (ReplacedFilters.xml).
 */
#ifndef vtkPatchVisibleSelection_h
#define vtkPatchVisibleSelection_h

#include "vtkPVSingleOutputExtractSelection.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchVisibleSelection : public vtkPVSingleOutputExtractSelection
{
public:
  static vtkPatchVisibleSelection* New();
  vtkTypeMacro(vtkPatchVisibleSelection, vtkPVSingleOutputExtractSelection);

protected:
  vtkPatchVisibleSelection() = default;
  ~vtkPatchVisibleSelection() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchVisibleSelection(const vtkPatchVisibleSelection&) = delete;
  void operator=(const vtkPatchVisibleSelection&) = delete;
};

#endif
