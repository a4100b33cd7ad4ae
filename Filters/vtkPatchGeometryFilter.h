/**
 * @class vtkPatchGeometryFilter
 * @brief Extract Surface that works around two bugs of vtkGeometryFilter
 *
 * If cells of a structured grid are hidden, vtkGeometryFilter of VTK before 26 January 2023 uses the upper
 * end of the grid's extent along z also for x and y. Faces then lie at wrong positions, or their points have
 * indices beyond the end of the arrays, and ParaView crashes. The result is right if the three ends are
 * equal. So this filter passes grids with hidden or ghost cells to VTK with an extent whose upper ends are
 * all 0, and with the origin that belongs to this extent. Points, cells and their data stay the same, in the
 * same order.
 *
 * VTK since 9.6.1 omits the face between a visible cell and the next cell along an axis if that cell is a
 * duplicate (DUPLICATECELL), even if the duplicate is hidden, but keeps the face on the other side of the
 * duplicate. So this filter lets VTK make the surface of visible and duplicate cells together, and removes
 * the faces of the duplicates, as ParaView does for views. The result has no faces between visible cells and
 * duplicates, and has all faces between visible and hidden cells. This filter passes all other input to
 * vtkGeometryFilter unchanged.
 *
 * vtkPatchSurface, which replaces ParaView's Extract Surface (ReplacedFilters.xml), is derived from this
 * class. An object factory could not replace vtkGeometryFilter, because vtkGeometryFilter does not use VTK's
 * object factories.
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
