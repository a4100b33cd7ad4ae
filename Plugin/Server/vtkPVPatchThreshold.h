/**
 * @class vtkPVPatchThreshold
 * @brief ParaView's Threshold, fast for many blocks and for blocks with hidden cells
 *
 * While the plugin is loaded, ParaView's Threshold is this class (ReplacedFilters.xml). vtkPatchThreshold
 * selects the cells of the input that vtkPatchThreshold supports. ParaView's own filter selects the cells in
 * all other cases: for other input, with UseContinuousCellRange on point arrays, with non-default component
 * settings, and while UsePatchIO or the setting Fast Extraction is off.
 */
#ifndef vtkPVPatchThreshold_h
#define vtkPVPatchThreshold_h

#include "vtkNew.h"
#include "vtkPVThreshold.h"
#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkPatchThreshold.h"
class VTKPATCHIOSERVER_EXPORT vtkPVPatchThreshold : public vtkPVThreshold
{
public:
  static vtkPVPatchThreshold* New();
  vtkTypeMacro(vtkPVPatchThreshold, vtkPVThreshold);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// On: vtkPatchThreshold selects the cells if it supports the case (see above). Off: ParaView's filter
  /// selects the cells in all cases. On by default.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

protected:
  vtkPVPatchThreshold() = default;
  ~vtkPVPatchThreshold() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPVPatchThreshold(const vtkPVPatchThreshold&) = delete;
  void operator=(const vtkPVPatchThreshold&) = delete;

  /// Selects cells by vtkPatchThreshold. Returns false, the same on all ranks, if ParaView's filter must
  /// select the cells.
  bool ThresholdByPatchIO(vtkDataObject* input, vtkDataObject* output);
  /// Selects cells by ParaView's filter, block by block. Returns 0 after an error, otherwise 1.
  int ThresholdByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchThreshold> InnerFilter;
};

#endif
