/**
 * @class vtkPatchThreshold
 * @brief ParaView's Threshold, fast for many blocks and for blocks of which cells are hidden
 *
 * While the plugin is loaded, ParaView's Threshold is this class (ReplacedFilters.xml). If all blocks of the
 * input on all ranks are structured grids, Extract/ gives the cells: one unstructured grid for each child of
 * the input's root, mostly a level. All other input and UseContinuousCellRange go to ParaView's own filter,
 * as does everything while UsePatchIO is off.
 */
#ifndef vtkPatchThreshold_h
#define vtkPatchThreshold_h

#include "vtkPVThreshold.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchThreshold : public vtkPVThreshold
{
public:
  static vtkPatchThreshold* New();
  vtkTypeMacro(vtkPatchThreshold, vtkPVThreshold);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Off: ParaView's filter does all.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

protected:
  vtkPatchThreshold() = default;
  ~vtkPatchThreshold() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchThreshold(const vtkPatchThreshold&) = delete;
  void operator=(const vtkPatchThreshold&) = delete;

  bool TakeBlocks(vtkDataObject* input, vtkDataObject* output);
  int UseParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
};

#endif
