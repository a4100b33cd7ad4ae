/**
 * @class vtkPatchViewGeometryFilter
 * @brief Makes the surfaces of blocks for views, fast even if cells are hidden
 *
 * ParaView's filter tests each cell of a block slowly as soon as one cell is hidden, and draws the faces
 * between blocks, which are most of the faces and cannot be seen. This class makes the surfaces of uniform
 * and rectilinear blocks by filters::SurfacesOfBlocks and passes these surfaces to ParaView's filter in place
 * of the blocks. ParaView's filter alone processes all other data, and makes outlines. Selections and block
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

  /// Omits faces behind which a visible cell of another block lies, on any rank. On by default.
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
