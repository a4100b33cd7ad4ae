/**
 * @class vtkPatchSlice
 * @brief ParaView's Slice, fast for many blocks and for blocks of which cells are hidden
 *
 * While the plugin is loaded, ParaView's Slice is this class (ReplacedFilters.xml). If all blocks of the
 * input on all ranks are structured grids, Extract/ makes the slice: one poly data for each child of the
 * input's root, mostly a level. All other input, functions other than planes, spheres, boxes and cylinders,
 * and crinkle slices go to ParaView's own filter, as does everything while UsePatchIO is off.
 */
#ifndef vtkPatchSlice_h
#define vtkPatchSlice_h

#include "vtkPVMetaSliceDataSet.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchSlice : public vtkPVMetaSliceDataSet
{
public:
  static vtkPatchSlice* New();
  vtkTypeMacro(vtkPatchSlice, vtkPVMetaSliceDataSet);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Off: ParaView's filter makes every slice.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPatchSlice() = default;
  ~vtkPatchSlice() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchSlice(const vtkPatchSlice&) = delete;
  void operator=(const vtkPatchSlice&) = delete;

  bool SliceBlocks(vtkDataObject* input, vtkDataObject* output);
  int SliceByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
};

#endif
