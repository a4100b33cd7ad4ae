/**
 * @class vtkPatchPointData
 * @brief Cell Data To Point Data whose ranges leave out hidden points
 *
 * vtkCellDataToPointData gives the value 0 to points that have only hidden cells, and ParaView includes this
 * 0 in the colour range. So this class limits the ranges of the arrays of structured grids to the visible
 * cells and their points. In ParaView 5.12 and later, this class also hides the points that have only hidden
 * or refined cells. The values equal the values of vtkCellDataToPointData.
 *
 * While the plugin is loaded, ParaView's Cell Data To Point Data is this class (ReplacedFilters.xml).
 */
#ifndef vtkPatchPointData_h
#define vtkPatchPointData_h

#include "vtkCellDataToPointData.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchPointData : public vtkCellDataToPointData
{
public:
  static vtkPatchPointData* New();
  vtkTypeMacro(vtkPatchPointData, vtkCellDataToPointData);

protected:
  vtkPatchPointData() = default;
  ~vtkPatchPointData() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchPointData(const vtkPatchPointData&) = delete;
  void operator=(const vtkPatchPointData&) = delete;
};

#endif
