#include "pqVolumeGuard.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqDataRepresentation.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkDataSetAttributes.h"
#include "vtkOutputWindow.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkPVDataSetAttributesInformation.h"
#include "vtkSMPVRepresentationProxy.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkWeakPointer.h"

#include <QTimer>

#include <string>

namespace {

/// Returns information about the data of a representation; null if the GUI has no such representation or
/// data.
const vtkPVDataInformation* InputInformation(vtkSMProxy* representation)
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  auto* item = model->findItem<pqDataRepresentation*>(representation);
  return item ? item->getInputDataInformation() : nullptr;
}

/// Returns whether composite data have different values of the field array "level". `data` may be null.
bool HasSeveralLevels(const vtkPVDataInformation* data)
{
  const vtkPVArrayInformation* levels =
      data && data->IsCompositeDataSet() ? data->GetArrayInformation("level", vtkDataObject::FIELD) : nullptr;
  return levels && levels->GetComponentRange(0)[0] < levels->GetComponentRange(0)[1];
}

/// Returns whether ParaView resamples the data to draw a volume. ParaView resamples overlapping AMR on one
/// rank, with the representation for AMR. `data` may be null.
bool CanResample(vtkSMProxy* representation, const vtkPVDataInformation* data)
{
  pqServer* const server =
      pqApplicationCore::instance()->getServerManagerModel()->findServer(representation->GetSession());
  return data && data->DataSetTypeIsA("vtkOverlappingAMR") && server &&
         server->getNumberOfPartitions() == 1 && QString(representation->GetXMLName()) == "AMRRepresentation";
}

/// Colours a representation of composite data by the first cell array, or by the first point array if the
/// data have no cell array. Does nothing if an array of the data already gives the colours. ParaView's own
/// arrays "vtkBlockColors" and "vtkCompositeIndex" exist only for surfaces.
void ColorByValues(vtkSMPVRepresentationProxy* representation)
{
  const vtkPVDataInformation* const data = InputInformation(representation);
  vtkSMProperty* const color = representation->GetProperty("ColorArrayName");
  if (!data || !data->IsCompositeDataSet() || !color) {
    return;
  }
  const vtkSMPropertyHelper now(color);
  const int association = now.GetInputArrayAssociation();
  if (association != vtkDataObject::FIELD &&
      data->GetArrayInformation(now.GetInputArrayNameToProcess(), association)) {
    return;
  }
  for (const int attributeType : {vtkDataObject::CELL, vtkDataObject::POINT}) {
    const vtkPVDataSetAttributesInformation* const arrays = data->GetAttributeInformation(attributeType);
    for (int i = 0; i < arrays->GetNumberOfArrays(); ++i) {
      const std::string name = arrays->GetArrayInformation(i)->GetName();
      if (name != vtkDataSetAttributes::GhostArrayName()) {
        representation->SetScalarColoring(name.c_str(), attributeType);
        representation->RescaleTransferFunctionToDataRange(true);
        return;
      }
    }
  }
}

}  // namespace

pqVolumeGuard::pqVolumeGuard(QObject* parentObject) : Superclass(parentObject) {}

void pqVolumeGuard::startup()
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqRepresentation* representation : model->findItems<pqRepresentation*>()) {
    this->addRepresentation(representation);
  }
  this->connect(
      model, SIGNAL(representationAdded(pqRepresentation*)), SLOT(addRepresentation(pqRepresentation*)));
}

void pqVolumeGuard::addRepresentation(pqRepresentation* representation)
{
  vtkSMProperty* type = representation->getProxy()->GetProperty("Representation");
  if (!type || !qobject_cast<pqDataRepresentation*>(representation)) {
    return;
  }
  pqCoreUtilities::connect(type, vtkCommand::ModifiedEvent, this, SLOT(onTypeModified(vtkObject*)));
  this->connect(representation, SIGNAL(dataUpdated()), SLOT(onDataUpdated()));
  this->onTypeModified(type);
}

void pqVolumeGuard::onTypeModified(vtkObject* object)
{
  auto* type = vtkSMProperty::SafeDownCast(object);
  const QString chosen = vtkSMPropertyHelper(type).GetAsString();
  if (chosen != "Volume") {
    this->PreviousTypes[type] = chosen;
  } else if (auto* shown = vtkSMPVRepresentationProxy::SafeDownCast(type->GetParent());
             !this->refuseVolume(type) && shown) {
    ColorByValues(shown);
  }
}

/// Refuses Volume if the new data have several levels, even if the data had one level when the user selected
/// Volume.
void pqVolumeGuard::onDataUpdated()
{
  auto* representation = qobject_cast<pqDataRepresentation*>(this->sender());
  if (representation && this->refuseVolume(representation->getProxy()->GetProperty("Representation"))) {
    representation->getProxy()->UpdateVTKObjects();
    representation->renderViewEventually();
  }
}

bool pqVolumeGuard::refuseVolume(vtkSMProperty* type)
{
  const vtkPVDataInformation* const data = InputInformation(type->GetParent());
  if (QString(vtkSMPropertyHelper(type).GetAsString()) != "Volume" || !HasSeveralLevels(data) ||
      CanResample(type->GetParent(), data)) {
    return false;
  }
  vtkSMPropertyHelper(type).Set(qPrintable(this->PreviousTypes.value(type, "Outline")));
  vtkOutputWindowDisplayErrorText(
      "PatchIO has turned off Volume, because ParaView crashes when it renders several levels, whose volumes "
      "overlap. Apply the filter Volume Of Patches (Filters > PatchIO) and render its image, or select a "
      "single level with Level Range.\n");
  // The toolbar may be setting the property just now, so it must read the property again afterwards.
  vtkWeakPointer<vtkSMProperty> property = type;
  QTimer::singleShot(0, this, [property] {
    if (property) {
      property->Modified();
    }
  });
  return true;
}
