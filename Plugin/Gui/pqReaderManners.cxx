#include "pqReaderManners.h"

#include "pqActiveObjects.h"
#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"
#include "pqView.h"

#include "vtkDataObject.h"
#include "vtkNew.h"
#include "vtkPVDataInformation.h"
#include "vtkSMParaViewPipelineControllerWithRendering.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMRenderViewProxy.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"
#include "vtkSmartPointer.h"

#include <QApplication>
#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QListWidget>
#include <QPointer>

namespace {

constexpr const char* ProxyName = "PatchReader";
/// In the pipeline browser.
constexpr const char* DateName = "date";

bool IsOurs(pqPipelineSource* source)
{
  return source && QString(source->getProxy()->GetXMLName()) == ProxyName;
}

/// As a filter of the reader in the active view.
void ShowDate(vtkSMSourceProxy* reader)
{
  pqView* view = pqActiveObjects::instance().activeView();
  auto* renderView = view ? vtkSMRenderViewProxy::SafeDownCast(view->getProxy()) : nullptr;
  auto filter = vtkSmartPointer<vtkSMProxy>::Take(
      reader->GetSessionProxyManager()->NewProxy("filters", "AnnotateGlobalData"));
  if (!renderView || !filter) {
    return;
  }
  vtkNew<vtkSMParaViewPipelineControllerWithRendering> controller;
  controller->PreInitializeProxy(filter);
  vtkSMPropertyHelper(filter, "Input").Set(reader);
  vtkSMPropertyHelper(filter, "SelectArrays").Set("date");
  vtkSMPropertyHelper(filter, "Prefix").Set("");
  vtkSMPropertyHelper(filter, "Format").Set("%s");
  controller->PostInitializeProxy(filter);
  filter->UpdateVTKObjects();
  pqPipelineSource* active = pqActiveObjects::instance().activeSource();
  controller->RegisterPipelineProxy(filter, DateName);
  controller->Show(vtkSMSourceProxy::SafeDownCast(filter), 0, renderView);
  if (auto* source =
          pqApplicationCore::instance()->getServerManagerModel()->findItem<pqPipelineSource*>(filter)) {
    source->setModifiedState(pqProxy::UNMODIFIED);  // there is nothing to apply
  }
  pqActiveObjects::instance().setActiveSource(active);  // the user goes on with the data
  view->render();
}

/// In pqSelectReaderDialog, which keeps the proxy's name behind each label.
void NameReaderIn(QObject* dialog)
{
  for (QListWidget* list : dialog->findChildren<QListWidget*>()) {
    for (int i = 0; i < list->count(); ++i) {
      if (list->item(i)->data(Qt::UserRole + 1).toString() == ProxyName) {
        list->item(i)->setText("PatchIO (" PATCHIO_FORMATS_IN_SHORT ")");
      }
    }
  }
}

}  // namespace

pqReaderManners::pqReaderManners(QObject* parentObject) : Superclass(parentObject) {}

pqReaderManners::~pqReaderManners() = default;

void pqReaderManners::startup()
{
  pqApplicationCore* core = pqApplicationCore::instance();
  pqServerManagerModel* model = core->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    this->onSourceAdded(source);
  }
  this->connect(model, SIGNAL(sourceAdded(pqPipelineSource*)), SLOT(onSourceAdded(pqPipelineSource*)));
  qApp->installEventFilter(this);
}

void pqReaderManners::shutdown()
{
  qApp->removeEventFilter(this);
}

bool pqReaderManners::eventFilter(QObject* watched, QEvent* event)
{
  if (event->type() == QEvent::Show && watched->inherits("pqSelectReaderDialog")) {
    NameReaderIn(watched);
  }
  return this->Superclass::eventFilter(watched, event);
}

void pqReaderManners::onSourceAdded(pqPipelineSource* source)
{
  if (!IsOurs(source) || vtkSMPropertyHelper(source->getProxy(), "FileName").GetNumberOfElements() != 1) {
    return;
  }
  // Where ParaView keeps the answer to its question: no, do not look for files of such names.
  source->setProperty("pqReloadFilesReaction::CachedState", false);
  this->connect(source, SIGNAL(visibilityChanged(pqPipelineSource*, pqDataRepresentation*)),
      SLOT(onVisibilityChanged(pqPipelineSource*)));
  const QFileInfo file(vtkSMPropertyHelper(source->getProxy(), "FileName").GetAsString());
  const QString name = source->getSMName();
  if (name == file.fileName() && (name == "Header" || name == "summary.samrai")) {
    source->rename(file.dir().dirName());
  }
}

void pqReaderManners::onVisibilityChanged(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  vtkSMSessionProxyManager* manager = reader->GetSessionProxyManager();
  if (manager->GetInLoadXMLState() || manager->GetProxy("sources", DateName) ||
      source->property("patchio_date").isValid() ||
      !reader->GetDataInformation(0)->GetArrayInformation("date", vtkDataObject::FIELD)) {
    return;
  }
  source->setProperty("patchio_date", true);
  // Not while the reader itself is being shown.
  const QPointer<pqPipelineSource> later(source);
  QMetaObject::invokeMethod(
      this,
      [later] {
        if (later) {
          ShowDate(later->getSourceProxy());
        }
      },
      Qt::QueuedConnection);
}
