/**
 * @class vtkPatchExtractSelection
 * @brief Extract Selection without the flags of hidden cells and points, for Plot Selection Over Time
 *
 * Plot Selection Over Time crashes if a block has an array at one time step but not at another time step.
 * PatchIO's blocks have the array of flags (vtkGhostType) only at steps with hidden cells. So this class
 * removes the flags from the extracted data. While the plugin is loaded, Plot Selection Over Time uses this
 * class (PlotSelectionOverTime.xml).
 */
#ifndef vtkPatchExtractSelection_h
#define vtkPatchExtractSelection_h

#include "vtkPVExtractSelection.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchExtractSelection : public vtkPVExtractSelection
{
public:
  static vtkPatchExtractSelection* New();
  vtkTypeMacro(vtkPatchExtractSelection, vtkPVExtractSelection);

protected:
  vtkPatchExtractSelection() = default;
  ~vtkPatchExtractSelection() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchExtractSelection(const vtkPatchExtractSelection&) = delete;
  void operator=(const vtkPatchExtractSelection&) = delete;
};

#endif
