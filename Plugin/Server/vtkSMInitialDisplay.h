/**
 * @class vtkSMInitialDisplay
 * @brief Makes the initial display of data a coloured surface, in the GUI and in scripts
 *
 * ParaView 5.11 first shows structured data as an outline without colours. This class shows the output of
 * PatchIO's readers as a surface instead, in the colours of the first array in the panel that the data have.
 * The reader's property FirstPicture names the representation: "Outline" if a surface would take too long.
 * The class changes a representation when ParaView registers the representation: after ParaView has set its
 * own defaults, and before ParaView makes the colours of the array. Representations from a state file stay
 * unchanged.
 *
 * ParaView makes one object of this class for each reader (InitializationHelper in the reader's XML). The
 * first object of a session observes the whole session and sends the plugin's settings to all processes. All
 * processes have loaded the plugin before a reader exists.
 */
#ifndef vtkSMInitialDisplay_h
#define vtkSMInitialDisplay_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkSMProxyInitializationHelper.h"

class VTKPATCHIOSERVER_EXPORT vtkSMInitialDisplay : public vtkSMProxyInitializationHelper
{
public:
  static vtkSMInitialDisplay* New();
  vtkTypeMacro(vtkSMInitialDisplay, vtkSMProxyInitializationHelper);

  void PostInitializeProxy(vtkSMProxy* reader, vtkPVXMLElement* xml, vtkMTimeType time) override;

protected:
  vtkSMInitialDisplay() = default;
  ~vtkSMInitialDisplay() override = default;

private:
  vtkSMInitialDisplay(const vtkSMInitialDisplay&) = delete;
  void operator=(const vtkSMInitialDisplay&) = delete;
};

#endif
