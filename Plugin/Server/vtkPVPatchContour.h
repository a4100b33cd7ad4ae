/**
 * @class vtkPVPatchContour
 * @brief ParaView's Contour of all blocks at once; contours of cell arrays have no cracks
 *
 * While the plugin is loaded, ParaView's Contour is this class (ReplacedFilters.xml). vtkPatchContour makes
 * the contours of the input that vtkPatchContour supports. ParaView's own filter makes all other contours: of
 * other input, of point arrays of a single grid, without GenerateTriangles, and all contours while UsePatchIO
 * or the setting Fast Extraction is off. Before ParaView's filter contours a cell array of a data set or of
 * blocks, this class converts the cell arrays to point arrays.
 *
 * Collective: every rank executes the filter. Either vtkPatchContour makes the contours on all ranks, or
 * ParaView's filter does.
 */
#ifndef vtkPVPatchContour_h
#define vtkPVPatchContour_h

#include "vtkNew.h"
#include "vtkPVContourFilter.h"
#include "vtkPatchContour.h"
#include "vtkPatchIOServerModule.h"  // for the export macro
class VTKPATCHIOSERVER_EXPORT vtkPVPatchContour : public vtkPVContourFilter
{
public:
  static vtkPVPatchContour* New();
  vtkTypeMacro(vtkPVPatchContour, vtkPVContourFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * On: vtkPatchContour makes the contours that it supports (see above). Off: ParaView's filter makes all
   * contours. On by default.
   */
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPVPatchContour() = default;
  ~vtkPVPatchContour() override = default;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int FillInputPortInformation(int port, vtkInformation* info) override;

private:
  vtkPVPatchContour(const vtkPVPatchContour&) = delete;
  void operator=(const vtkPVPatchContour&) = delete;

  /// Makes contours by vtkPatchContour. Returns false, the same on all ranks, if ParaView's filter must make
  /// these contours.
  bool ContourByPatchIO(vtkDataObject* input, vtkDataObject* output);
  int ContourByParaView(vtkInformation*, vtkInformationVector**, vtkInformationVector*);

  bool UsePatchIO = true;
  vtkNew<vtkPatchContour> InnerFilter;
};

#endif
