/**
 * @class vtkPatchViewGeometryFilter
 * @brief Makes what a view draws of blocks, fast also if they have hidden cells
 *
 * ParaView's filter looks at each cell of a block in a slow way as soon as one cell is hidden, and draws the
 * faces between blocks, which are most of all faces and cannot be seen. This class makes the surfaces of
 * uniform and rectilinear blocks by filters::SurfacesOfBlocks and hands these surfaces to ParaView's filter
 * in place of the blocks; all other data, and outlines, are left to ParaView's filter. Selections and block
 * colours work as before: each block keeps its own surface, with the numbers of its cells and points.
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

  /// Whether to leave out faces behind which a visible cell of another block lies, on any rank. Default:
  /// true.
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
