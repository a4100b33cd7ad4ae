/**
 * @class vtkPatchViewGeometryFilter
 * @brief What a view draws of blocks with hidden cells, at the speed of the data
 *
 * ParaView's filter looks at each cell of a block in a slow way as soon as one cell is hidden. This one makes
 * the surfaces of such blocks by extract::VisibleSurface and hands them on in their place; all else, outlines
 * too, is ParaView's own. Selections, block colours and hidden blocks work as before: each block keeps its
 * surface, with the numbers of its cells and points.
 */
#ifndef vtkPatchViewGeometryFilter_h
#define vtkPatchViewGeometryFilter_h

#include "vtkPVGeometryFilter.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchViewGeometryFilter : public vtkPVGeometryFilter
{
public:
  static vtkPatchViewGeometryFilter* New();
  vtkTypeMacro(vtkPatchViewGeometryFilter, vtkPVGeometryFilter);

protected:
  vtkPatchViewGeometryFilter() = default;
  ~vtkPatchViewGeometryFilter() override = default;

  int RequestDataObjectTree(vtkInformation* request, vtkInformationVector** inputVector,
      vtkInformationVector* outputVector) override;

private:
  vtkPatchViewGeometryFilter(const vtkPatchViewGeometryFilter&) = delete;
  void operator=(const vtkPatchViewGeometryFilter&) = delete;
};

#endif
