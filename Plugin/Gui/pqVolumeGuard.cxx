#include "pqVolumeGuard.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqDataRepresentation.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkOutputWindow.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkWeakPointer.h"

#include <QTimer>

namespace {

bool HasSeveralLevels(const pqDataRepresentation* representation)
{
  const vtkPVDataInformation* data = representation ? representation->getInputDataInformation() : nullptr;
  const vtkPVArrayInformation* levels =
      data && data->IsCompositeDataSet() ? data->GetArrayInformation("level", vtkDataObject::FIELD) : nullptr;
  return levels && levels->GetComponentRange(0)[0] < levels->GetComponentRange(0)[1];
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

void pqVolumeGuard::onTypeModified(vtkObject* type)
{
  this->refuseVolume(vtkSMProperty::SafeDownCast(type));
}

/// More levels may be shown than there were when Volume was chosen.
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
  const QString chosen = vtkSMPropertyHelper(type).GetAsString();
  if (chosen != "Volume") {
    this->Before[type] = chosen;
    return false;
  }
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (!HasSeveralLevels(model->findItem<pqDataRepresentation*>(type->GetParent()))) {
    return false;
  }
  vtkSMPropertyHelper(type).Set(qPrintable(this->Before.value(type, "Outline")));
  vtkOutputWindowDisplayErrorText(
      "Volume cannot draw several levels at once: ParaView crashes on blocks that "
      "lie inside each other. Show one level (Level Range), or apply Resample To "
      "Image first.\n");
  // Whoever is just setting it, such as the toolbar, looks at it again afterwards.
  vtkWeakPointer<vtkSMProperty> property = type;
  QTimer::singleShot(0, this, [property] {
    if (property) {
      property->Modified();
    }
  });
  return true;
}
