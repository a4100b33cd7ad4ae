#include "vtkSMFirstPicture.h"

#include <vtkCommand.h>
#include <vtkDataObject.h>
#include <vtkObjectFactory.h>
#include <vtkPVDataInformation.h>
#include <vtkSMPropertyHelper.h>
#include <vtkSMProxyManager.h>
#include <vtkSMSessionProxyManager.h>
#include <vtkSMSourceProxy.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <string>

namespace {

/// In pixels: single points are visible.
constexpr int PointSize = 5;

/// In the order of the panel. Both associations are tried, because arrays of cells become point data on lists
/// of points.
void ColorByFirstArray(vtkSMSourceProxy* reader, vtkSMProxy* representation)
{
  vtkPVDataInformation* data = reader->GetDataInformation(0);
  for (const char* list : {"CellArrayStatus", "PointArrayStatus"}) {
    const vtkSMPropertyHelper arrays(reader, list);
    for (unsigned int i = 0; i + 1 < arrays.GetNumberOfElements(); i += 2) {
      const char* name = arrays.GetAsString(i);
      for (const int association : {vtkDataObject::CELL, vtkDataObject::POINT}) {
        if (data->GetArrayInformation(name, association)) {
          vtkSMPropertyHelper(representation, "ColorArrayName").SetInputArrayToProcess(association, name);
          return;
        }
      }
    }
  }
}

void ShowFirst(vtkSMSourceProxy* reader, vtkSMProxy* representation)
{
  vtkSMProperty* property = reader->GetProperty("FirstPicture");
  reader->UpdatePropertyInformation(property);
  const std::string picture = vtkSMPropertyHelper(property).GetAsString();
  vtkSMPropertyHelper(representation, "Representation").Set(picture.c_str());
  if (picture != "Outline") {
    ColorByFirstArray(reader, representation);
    if (reader->GetDataInformation(0)->HasDataSetType(VTK_POLY_DATA)) {
      vtkSMPropertyHelper(representation, "PointSize", true).Set(PointSize);
    }
  }
  representation->UpdateVTKObjects();
}

/// Is called for each proxy that is registered with the proxy manager of a session.
class Watcher : public vtkCommand
{
public:
  vtkTypeMacro(Watcher, vtkCommand);
  static Watcher* New() { return new Watcher; }

  void Execute(vtkObject* manager, unsigned long, void* what) override
  {
    const auto& info = *static_cast<vtkSMProxyManager::RegisteredProxyInformation*>(what);
    if (info.Type != vtkSMProxyManager::RegisteredProxyInformation::PROXY ||
        std::string(info.GroupName) != "representations" ||
        vtkSMSessionProxyManager::SafeDownCast(manager)->GetInLoadXMLState() ||
        !info.Proxy->GetProperty("Representation") || !info.Proxy->GetProperty("ColorArrayName")) {
      return;
    }
    auto* source =
        vtkSMSourceProxy::SafeDownCast(vtkSMPropertyHelper(info.Proxy, "Input", true).GetAsProxy());
    if (source && source->GetProperty("FirstPicture")) {
      ShowFirst(source, info.Proxy);
    }
  }
};

}  // namespace

vtkStandardNewMacro(vtkSMFirstPicture);

void vtkSMFirstPicture::PostInitializeProxy(vtkSMProxy* reader, vtkPVXMLElement*, vtkMTimeType)
{
  static const auto watcher = vtkSmartPointer<Watcher>::New();
  vtkSMSessionProxyManager* manager = reader->GetSessionProxyManager();
  if (!manager->HasObserver(vtkCommand::RegisterEvent, watcher)) {
    manager->AddObserver(vtkCommand::RegisterEvent, watcher);
  }
}
