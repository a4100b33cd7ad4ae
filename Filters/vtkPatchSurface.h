/**
 * @class vtkPatchSurface
 * @brief ParaView's Extract Surface, for all blocks at once
 *
 * While the plugin is loaded, ParaView's Extract Surface is this class (ReplacedFilters.xml). If the input is
 * composite and all its blocks on all ranks are uniform or rectilinear grids of three dimensions, the output
 * is the outer surface of the blocks, without the faces between blocks, levels and ranks: a poly data for
 * each child (see vtkPatchFilter). For other input, or while FastExtraction (vtkPatchSettings) is off, the
 * filter runs vtkPatchGeometryFilter block by block.
 */
#ifndef vtkPatchSurface_h
#define vtkPatchSurface_h

#include "vtkPatchGeometryFilter.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro

class VTKPATCHIOFILTERS_EXPORT vtkPatchSurface : public vtkPatchGeometryFilter
{
public:
  static vtkPatchSurface* New();
  vtkTypeMacro(vtkPatchSurface, vtkPatchGeometryFilter);

protected:
  vtkPatchSurface() = default;
  ~vtkPatchSurface() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchSurface(const vtkPatchSurface&) = delete;
  void operator=(const vtkPatchSurface&) = delete;

  bool MakeSurface(vtkDataObject* input, vtkDataObject* output);
};

#endif
