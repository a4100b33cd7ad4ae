/**
 * @class vtkPatchSettings
 * @brief The user's settings of the plugin, for all filters of a process
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

  /// On: PatchIO's filters make the slices, contours and surfaces of the data that PatchIO supports. Off:
  /// ParaView's own filters do. A change applies to all later executions in this process. On by default.
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
