/**
 * @class vtkSMFirstPicture
 * @brief makes the first picture of data a colored surface, in the GUI and in scripts
 *
 * ParaView 5.11 first shows structured data as an outline without colors. This class shows the output of
 * PatchIO's readers as a surface in the colors of the panel's first array instead, unless the reader's
 * FirstPicture says that this takes too long. The class changes the representation when it is registered:
 * after ParaView has set its own defaults, and before ParaView makes the colors of the array. Representations
 * from a state file stay as they are.
 *
 * ParaView makes one object of this class for each reader (InitializationHelper in its XML). The first object
 * of a session observes the whole session, and sends the plugin's settings to all processes, which all have
 * the plugin once there is a reader.
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
