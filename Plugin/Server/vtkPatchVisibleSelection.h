/**
 * @class vtkPatchVisibleSelection
 * @brief Extract Selection without hidden cells
 *
 * Queries select hidden, refined and ghost cells, too, and vtkExtractSelection extracts them. This class
 * removes these cells, and the array of flags, from the result. If the topology is preserved, these cells do
 * not count as inside.
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
