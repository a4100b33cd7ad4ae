/**
 * @class vtkPatchSettings
 * @brief The user's setting Fast Extraction, for all filters of a process
 */
#ifndef vtkPatchSettings_h
#define vtkPatchSettings_h

#include "vtkObject.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro

class VTKPATCHIOFILTERS_EXPORT vtkPatchSettings : public vtkObject
{
public:
  static vtkPatchSettings* New();
  vtkTypeMacro(vtkPatchSettings, vtkObject);

  /// On: if PatchIO supports the data, PatchIO's filters compute ParaView's Slice, Contour, Clip, Threshold,
  /// Extract Surface and the surfaces in views. Off: ParaView's own filters compute them. A change applies to
  /// all later executions in this process. On by default.
  void SetFastExtraction(bool value) { Fast = value; }
  static bool GetFastExtraction() { return Fast; }

protected:
  vtkPatchSettings() = default;
  ~vtkPatchSettings() override = default;

private:
  vtkPatchSettings(const vtkPatchSettings&) = delete;
  void operator=(const vtkPatchSettings&) = delete;

  static bool Fast;
};

#endif
