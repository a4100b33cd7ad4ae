#include "vtkSMInitialDisplay.h"

#include <vtkCommand.h>
#include <vtkDataObject.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPVDataInformation.h>
#include <vtkSMParaViewPipelineController.h>
#include <vtkSMPropertyHelper.h>
#include <vtkSMProxyManager.h>
#include <vtkSMSessionProxyManager.h>
#include <vtkSMSettingsProxy.h>
#include <vtkSMSourceProxy.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

/// The size of points in pixels, large enough to see single points.
constexpr int PointSize = 5;

/// Returns the names of a list of arrays in the order in which ParaView's panel shows them.
std::vector<std::string> NamesInPanel(vtkSMProxy* reader, const char* list)
{
  const vtkSMPropertyHelper arrays(reader, list);
  std::vector<std::string> names;
  for (unsigned int i = 0; i + 1 < arrays.GetNumberOfElements(); i += 2) {
    names.emplace_back(arrays.GetAsString(i));
  }
  // The panel (pqArraySelectionWidget) keeps the names in a map, so capitals come first.
  std::sort(names.begin(), names.end());
  return names;
}

/// Colours `representation` by the first array of the panel that the data have. Tries both associations,
/// because arrays of cells become point data on lists of points.
void ColorByFirstArray(vtkSMSourceProxy* reader, vtkSMProxy* representation)
{
  vtkPVDataInformation* data = reader->GetDataInformation(0);
  for (const char* list : {"CellArrayStatus", "PointArrayStatus"}) {
    for (const std::string& name : NamesInPanel(reader, list)) {
      for (const int association : {vtkDataObject::CELL, vtkDataObject::POINT}) {
        if (data->GetArrayInformation(name.c_str(), association)) {
          vtkSMPropertyHelper(representation, "ColorArrayName")
              .SetInputArrayToProcess(association, name.c_str());
          return;
        }
      }
    }
  }
}

/// Sets the representation, the colours and the size of points to PatchIO's defaults. The reader's property
/// FirstPicture names the representation; an outline gets no colours.
void SetInitialDisplay(vtkSMSourceProxy* reader, vtkSMProxy* representation)
{
  vtkSMProperty* property = reader->GetProperty("FirstPicture");
  reader->UpdatePropertyInformation(property);
  const std::string display = vtkSMPropertyHelper(property).GetAsString();
  vtkSMPropertyHelper(representation, "Representation").Set(display.c_str());
  if (display != "Outline") {
    ColorByFirstArray(reader, representation);
    if (reader->GetDataInformation(0)->HasDataSetType(VTK_POLY_DATA)) {
      vtkSMPropertyHelper(representation, "PointSize", true).Set(PointSize);
    }
  }
  representation->UpdateVTKObjects();
}

/// Sets the initial display of readers, except for representations from state files. ParaView calls Execute()
/// for each proxy that is registered with a session's proxy manager.
class RegistrationObserver : public vtkCommand
{
public:
  vtkTypeMacro(RegistrationObserver, vtkCommand);
  static RegistrationObserver* New() { return new RegistrationObserver; }

  void Execute(vtkObject* manager, unsigned long, void* callData) override
  {
    const auto& info = *static_cast<vtkSMProxyManager::RegisteredProxyInformation*>(callData);
    if (info.Type != vtkSMProxyManager::RegisteredProxyInformation::PROXY ||
        std::string(info.GroupName) != "representations" ||
        vtkSMSessionProxyManager::SafeDownCast(manager)->GetInLoadXMLState() ||
        !info.Proxy->GetProperty("Representation") || !info.Proxy->GetProperty("ColorArrayName")) {
      return;
    }
    auto* source =
        vtkSMSourceProxy::SafeDownCast(vtkSMPropertyHelper(info.Proxy, "Input", true).GetAsProxy());
    if (source && source->GetProperty("FirstPicture")) {
      SetInitialDisplay(source, info.Proxy);
    }
  }
};

/// The group and name of the proxy for the settings. ParaView does not save proxies of groups named
/// *_prototypes in state files.
constexpr const char *SwitchGroup = "patchio_prototypes", *SwitchName = "PatchIOSwitch";

/// Links the user's settings to a new proxy, which ParaView sends to all processes now and after each change.
void LinkSettings(vtkSMSessionProxyManager* manager)
{
  // The GUI makes the settings when it loads the plugin, but scripts do not.
  vtkNew<vtkSMParaViewPipelineController>()->UpdateSettingsProxies(manager->GetSession());
  auto* const settings = vtkSMSettingsProxy::SafeDownCast(manager->GetProxy("settings", "PatchIOSettings"));
  const auto proxy = vtkSmartPointer<vtkSMProxy>::Take(manager->NewProxy("misc", SwitchName));
  if (settings && proxy) {
    manager->RegisterProxy(SwitchGroup, SwitchName, proxy);
    settings->AddLink("FastExtraction", proxy, "FastExtraction", false);
    proxy->UpdateVTKObjects();
  }
}

}  // namespace

vtkStandardNewMacro(vtkSMInitialDisplay);

void vtkSMInitialDisplay::PostInitializeProxy(vtkSMProxy* reader, vtkPVXMLElement*, vtkMTimeType)
{
  static const auto observer = vtkSmartPointer<RegistrationObserver>::New();
  vtkSMSessionProxyManager* const manager = reader->GetSessionProxyManager();
  if (!manager->HasObserver(vtkCommand::RegisterEvent, observer)) {
    manager->AddObserver(vtkCommand::RegisterEvent, observer);
  }
  if (!manager->GetProxy(SwitchGroup, SwitchName)) {
    LinkSettings(manager);
  }
}
