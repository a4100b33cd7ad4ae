/**
 * @class vtkPVPatchSlice
 * @brief ParaView's Slice, fast for many blocks and for blocks with hidden cells
 *
 * While the plugin is loaded, ParaView's Slice is this class (ReplacedFilters.xml). vtkPatchSlice slices the
 * input that vtkPatchSlice supports. ParaView's own filter makes all other slices: of other input, by other
 * functions, crinkle slices, and all slices while UsePatchIO or the setting Fast Extraction is off.
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
  /// On: vtkPatchSlice makes the slices that it supports (see above). Off: ParaView's filter makes all
  /// slices. On by default.
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

  /// Slices by vtkPatchSlice. Returns false, the same on all ranks, if ParaView's filter must make this
  /// slice.
  bool SliceByPatchIO(vtkDataObject* input, vtkDataObject* output);
  /// Slices by ParaView's filter, block by block. Returns 0 after an error, otherwise 1.
  int SliceByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchSlice> InnerFilter;
};

#endif
