/**
 * @class vtkPatchViewGeometryFilter
 * @brief Makes the surfaces of blocks for views, fast even if some cells are hidden
 *
 * ParaView's filter is slow for blocks with hidden cells, because the filter tests each cell of such a block.
 * ParaView's filter also draws the faces between blocks, which are most of the faces and are not visible.
 * This class makes the surfaces of uniform and rectilinear blocks by filters::SurfacesOfBlocks and passes
 * these surfaces to ParaView's filter in place of the blocks. ParaView's filter alone processes all other
 * data, and data with at most one block per rank and without hidden cells. ParaView's filter also makes
 * outlines, and processes all data while the setting Fast Extraction is off.
 *
 * Selections and block colours work as with ParaView's filter: each block has its own surface, with the
 * numbers of the block's cells and points.
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

  /// On: omits faces that have a visible cell of any block of any rank on the other side. Off: omits only
  /// faces that have a visible cell of the same block on the other side. On by default.
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
