/**
 * @class vtkPatchClip
 * @brief ParaView's Clip, fast for many blocks, and without hidden cells
 *
 * While the plugin is loaded, ParaView's Clip is this class (ReplacedFilters.xml). If all blocks of the input
 * on all ranks are structured grids, Extract/ clips them by planes, spheres, boxes and cylinders: one
 * unstructured grid for each child of the input's root, mostly a level. All other input and functions, exact
 * boxes and clips by values go to ParaView's own filter, as does everything while UsePatchIO is off.
 */
#ifndef vtkPatchClip_h
#define vtkPatchClip_h

#include "vtkPVMetaClipDataSet.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchClip : public vtkPVMetaClipDataSet
{
public:
  static vtkPatchClip* New();
  vtkTypeMacro(vtkPatchClip, vtkPVMetaClipDataSet);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Off: ParaView's filter clips all.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPatchClip() = default;
  ~vtkPatchClip() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchClip(const vtkPatchClip&) = delete;
  void operator=(const vtkPatchClip&) = delete;

  bool ClipBlocks(vtkDataObject* input, vtkDataObject* output);
  int ClipByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
};

#endif
