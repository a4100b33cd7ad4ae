/**
 * @class vtkPVPatchContour
 * @brief Contour of all blocks at once, without cracks between blocks, levels and ranks
 *
 * While the plugin is loaded, ParaView's Contour is this class (ReplacedFilters.xml). vtkPatchContour makes
 * the contour where it supports the input. All other input, and everything while UsePatchIO is off, goes to
 * ParaView's own filter; arrays of cells then become arrays of points first.
 *
 * Collective: every rank calls the filter. All ranks use the same one of the two filters.
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
   * Makes contours by vtkPatchContour where it supports the input. Off: all input goes to ParaView's filter.
   * On by default.
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

  bool UsePatchFilter(vtkDataObject* input, vtkDataObject* output);
  int UseParaView(vtkInformation*, vtkInformationVector**, vtkInformationVector*);
  bool IsOfPoints();

  bool UsePatchIO = true;
  vtkNew<vtkPatchContour> Inner;
};

#endif
