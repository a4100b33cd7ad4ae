/**
 * @class vtkPatchSettings
 * @brief The user's settings of the plugin, in each process
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

  /// Lets PatchIO make slices, contours and surfaces of data that it supports. A change applies to all later
  /// executions. On by default.
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
