/**
 * @class vtkPVPatchThreshold
 * @brief ParaView's Threshold, fast for many blocks and for blocks with hidden cells
 *
 * While the plugin is loaded, ParaView's Threshold is this class (ReplacedFilters.xml). vtkPatchThreshold
 * selects the cells where it supports the input. All other input and UseContinuousCellRange go to ParaView's
 * own filter, as does everything while UsePatchIO is off.
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
  /// Selects cells by vtkPatchThreshold where it supports the input. Off: ParaView's filter selects all
  /// cells. On by default.
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

  bool UsePatchFilter(vtkDataObject* input, vtkDataObject* output);
  int UseParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchThreshold> Inner;
};

#endif
