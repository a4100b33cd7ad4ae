/**
 * @class vtkPatchViewGeometryFilter
 * @brief What a view draws of blocks with hidden cells, at the speed of the data
 *
 * ParaView's filter looks at each cell of a block in a slow way as soon as one cell is hidden, and draws the
 * faces between blocks, which nobody sees and which are most of them. This one makes the surfaces of uniform
 * and rectilinear blocks by filters::SurfacesOfBlocks and hands them on in their place; all else, outlines
 * too, is ParaView's own. Selections and block colours work as before: each block keeps its own surface, with
 * the numbers of its cells and points.
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

  /// Whether faces are left out behind which a visible cell of another block lies, on any rank.
  vtkSetMacro(OuterFacesOnly, bool);
  vtkGetMacro(OuterFacesOnly, bool);

protected:
  vtkPatchViewGeometryFilter() = default;
  ~vtkPatchViewGeometryFilter() override = default;

  int RequestDataObjectTree(vtkInformation* request, vtkInformationVector** inputVector,
      vtkInformationVector* outputVector) override;

private:
  vtkPatchViewGeometryFilter(const vtkPatchViewGeometryFilter&) = delete;
  void operator=(const vtkPatchViewGeometryFilter&) = delete;

  bool OuterFacesOnly = true;
};

#endif
