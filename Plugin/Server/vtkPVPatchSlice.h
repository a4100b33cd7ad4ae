/**
 * @class vtkPVPatchSlice
 * @brief ParaView's Slice, fast for many blocks and for blocks with hidden cells
 *
 * While the plugin is loaded, ParaView's Slice is this class (ReplacedFilters.xml). vtkPatchSlice makes the
 * slice where it supports the input. All other input and crinkle slices go to ParaView's own filter, as does
 * everything while UsePatchIO is off.
 */
#ifndef vtkPVPatchSlice_h
#define vtkPVPatchSlice_h

#include "vtkNew.h"
#include "vtkPVMetaSliceDataSet.h"
#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkPatchSlice.h"
class VTKPATCHIOSERVER_EXPORT vtkPVPatchSlice : public vtkPVMetaSliceDataSet
{
public:
  static vtkPVPatchSlice* New();
  vtkTypeMacro(vtkPVPatchSlice, vtkPVMetaSliceDataSet);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Slices by vtkPatchSlice where it supports the input. Off: ParaView's filter makes all slices. On by
  /// default.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPVPatchSlice() = default;
  ~vtkPVPatchSlice() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPVPatchSlice(const vtkPVPatchSlice&) = delete;
  void operator=(const vtkPVPatchSlice&) = delete;

  bool SliceByPatchIO(vtkDataObject* input, vtkDataObject* output);
  int SliceByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchSlice> Inner;
};

#endif
