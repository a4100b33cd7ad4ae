/**
 * @class vtkPatchGeometryFilter
 * @brief Extract Surface that works around two bugs of vtkGeometryFilter
 *
 * If cells of a structured grid are hidden, vtkGeometryFilter of VTK before 26 January 2023 uses the upper
 * end of the grid's extent along z for x and y too. Faces then lie in wrong places, or their points have
 * indices beyond the end of the arrays, and ParaView crashes. The result is right if the three ends are
 * equal. So this filter passes such grids to VTK with an extent whose upper ends are all 0, and with the
 * origin that belongs to this extent. Points, cells and their data stay the same, in the same order.
 *
 * VTK since 9.6.1 omits the face between a visible cell and the next cell along an axis if that cell is a
 * duplicate (DUPLICATECELL), even if the duplicate is hidden, but keeps the face on the other side of the
 * duplicate. So this filter has VTK make the surface of visible and duplicate cells together, and removes the
 * faces of the duplicates, as ParaView does for views. The result has no faces between visible cells and
 * duplicates, and has all faces between visible and hidden cells. All other input goes to vtkGeometryFilter
 * unchanged.
 *
 * While the plugin is loaded into such a version, ParaView's Extract Surface is
 * this class (ReplacedFilters.xml), because vtkGeometryFilter does not ask VTK's object factories for a
 * replacement.
 */
#ifndef vtkPatchGeometryFilter_h
#define vtkPatchGeometryFilter_h

#include "vtkGeometryFilter.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro

class VTKPATCHIOFILTERS_EXPORT vtkPatchGeometryFilter : public vtkGeometryFilter
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
