/**
 * @class vtkPVPatchClip
 * @brief ParaView's Clip, fast for many blocks, and without hidden cells
 *
 * While the plugin is loaded, ParaView's Clip is this class (ReplacedFilters.xml). vtkPatchClip clips the
 * input that vtkPatchClip supports. ParaView's own filter makes all other clips: of other input, by exact
 * boxes, by other functions and by values, and all clips while UsePatchIO or the setting Fast Extraction is
 * off.
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
  /// On: vtkPatchClip makes the clips that it supports (see above). Off: ParaView's filter makes all clips.
  /// On by default.
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

  /// Clips by vtkPatchClip. Returns false, the same on all ranks, if ParaView's filter must make this clip.
  bool ClipByPatchIO(vtkDataObject* input, vtkDataObject* output);
  /// Clips by ParaView's filter, block by block. Returns 0 after an error, otherwise 1.
  int ClipByParaView(vtkDataObject* input, vtkDataObject* output);

  bool UsePatchIO = true;
  vtkNew<vtkPatchClip> InnerFilter;
};

#endif
