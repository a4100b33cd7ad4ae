/**
 * @class vtkPatchPointData
 * @brief Cell Data To Point Data whose ranges leave out hidden points
 *
 * vtkCellDataToPointData gives points of hidden cells alone the value 0, and ParaView 5.11 counts them in the
 * colour range. So this class limits the ranges of the arrays to the points of visible cells. The values are
 * those of VTK.
 *
 * While the plugin is loaded into ParaView 5.11, Cell Data To Point Data is this class (PointData.xml).
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
