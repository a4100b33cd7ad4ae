/**
 * @class vtkPatchGeometryFilter
 * @brief Extract Surface where VTK's own leaves the arrays of grids with hidden cells
 *
 * Where cells of a structured grid are hidden, vtkGeometryFilter of VTK before 26 January 2023 takes the
 * upper end of the grid's extent along z for that along x and y, too: faces lie in wrong places, or their
 * points beyond the end of the arrays, and ParaView crashes. It is right where the three ends are the same
 * number. So this filter gives it such grids with another extent, all upper ends 0, and with the origin that
 * belongs to it. Points, cells and their data are the same and in the same order. All other input goes to
 * vtkGeometryFilter as it is. ParaView's Extract Surface is this class while the plugin is loaded into such a
 * version (ExtractSurface.xml): vtkGeometryFilter does not ask VTK's object factories for a replacement.
 */
#ifndef vtkPatchGeometryFilter_h
#define vtkPatchGeometryFilter_h

#include "vtkGeometryFilter.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchGeometryFilter : public vtkGeometryFilter
{
public:
  static vtkPatchGeometryFilter* New();
  vtkTypeMacro(vtkPatchGeometryFilter, vtkGeometryFilter);

protected:
  vtkPatchGeometryFilter() = default;
  ~vtkPatchGeometryFilter() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchGeometryFilter(const vtkPatchGeometryFilter&) = delete;
  void operator=(const vtkPatchGeometryFilter&) = delete;
};

#endif
