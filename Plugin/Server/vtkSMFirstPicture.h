/**
 * @class vtkSMFirstPicture
 * @brief people see their data at first, in the GUI and in scripts
 *
 * ParaView 5.11 shows all structured data as an outline without colors at first. Where somebody shows the
 * output of one of our readers for the first time, it is a surface with the colors of the first array
 * instead, unless the reader's FirstPicture says that this takes too long. It happens when the representation
 * is registered: after ParaView has set its own defaults, and before it makes the colors of the array.
 * Representations that a state file brings stay as they are.
 *
 * ParaView makes one for each reader that is made (InitializationHelper in its XML); the first of a session
 * sees to all of it.
 */
#ifndef vtkSMFirstPicture_h
#define vtkSMFirstPicture_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkSMProxyInitializationHelper.h"

class VTKPATCHIOSERVER_EXPORT vtkSMFirstPicture : public vtkSMProxyInitializationHelper
{
public:
  static vtkSMFirstPicture* New();
  vtkTypeMacro(vtkSMFirstPicture, vtkSMProxyInitializationHelper);

  void PostInitializeProxy(vtkSMProxy* reader, vtkPVXMLElement* xml, vtkMTimeType time) override;

protected:
  vtkSMFirstPicture() = default;
  ~vtkSMFirstPicture() override = default;

private:
  vtkSMFirstPicture(const vtkSMFirstPicture&) = delete;
  void operator=(const vtkSMFirstPicture&) = delete;
};

#endif
