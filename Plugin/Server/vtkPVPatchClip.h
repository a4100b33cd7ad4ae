/**
 * @class vtkPVPatchClip
 * @brief ParaView's Clip, fast for many blocks, and without hidden cells
 *
 * While the plugin is loaded, ParaView's Clip is this class (ReplacedFilters.xml). vtkPatchClip clips where
 * it supports the input. All other input, exact boxes and clips by values go to ParaView's own filter, as
 * does everything while UsePatchIO is off.
 */
#ifndef vtkPVPatchClip_h
#define vtkPVPatchClip_h

#include "vtkNew.h"
#include "vtkPVMetaClipDataSet.h"
#include "vtkPatchClip.h"
#include "vtkPatchIOServerModule.h"  // for the export macro
class VTKPATCHIOSERVER_EXPORT vtkPVPatchClip : public vtkPVMetaClipDataSet
{
public:
  static vtkPVPatchClip* New();
  vtkTypeMacro(vtkPVPatchClip, vtkPVMetaClipDataSet);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Clips by vtkPatchClip where it supports the input. Off: ParaView's filter clips all input. On by
  /// default.
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPVPatchClip() = default;
  ~vtkPVPatchClip() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPVPatchClip(const vtkPVPatchClip&) = delete;
  void operator=(const vtkPVPatchClip&) = delete;

  bool ClipByPatchIO(vtkDataObject* input, vtkDataObject* output);
  int ClipByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchClip> Inner;
};

#endif
