#include "pqReadAbort.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"
#include "pqServerManagerModel.h"

#include "vtkAlgorithm.h"
#include "vtkCollection.h"
#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkSMProxy.h"
#include "vtkSMSessionProxyManager.h"

#include <QToolButton>
#include <QWidget>

namespace {

/// Where an animation plays, it does not go on to the next step.
void StopAnimations(vtkSMProxy* reader)
{
  vtkNew<vtkCollection> proxies;
  reader->GetSessionProxyManager()->GetProxies("animation", proxies);
  for (int i = 0; i < proxies->GetNumberOfItems(); ++i) {
    auto* proxy = vtkSMProxy::SafeDownCast(proxies->GetItemAsObject(i));
    if (proxy && proxy->GetXMLName() && QString(proxy->GetXMLName()) == "AnimationScene") {
      proxy->InvokeCommand("Stop");
    }
  }
}

/// Null where nobody has such a reader.
pqPipelineSource* SourceOf(vtkObject* reader)
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (source->getProxy()->GetClientSideObject() == reader) {
      return source;
    }
  }
  return nullptr;
}

}  // namespace

pqReadAbort::pqReadAbort(QObject* parentObject) : Superclass(parentObject) {}

pqReadAbort::~pqReadAbort() = default;

void pqReadAbort::startup()
{
  this->Keys = std::make_unique<AbortKeys>();
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    this->addSource(source);
  }
  this->connect(model, SIGNAL(sourceAdded(pqPipelineSource*)), SLOT(addSource(pqPipelineSource*)));
  this->connect(model, SIGNAL(modifiedStateChanged(pqServerManagerModelItem*)),
      SLOT(onModifiedStateChanged(pqServerManagerModelItem*)));
}

void pqReadAbort::shutdown()
{
  this->Keys.reset();
}

void pqReadAbort::addSource(pqPipelineSource* source)
{
  vtkSMProxy* proxy = source->getProxy();
  // The reader itself is here with a builtin server only.
  auto* reader = vtkAlgorithm::SafeDownCast(proxy->GetClientSideObject());
  if (!proxy->GetProperty("ReadAgain") || !reader || !this->Keys || !this->Keys->IsAble()) {
    return;
  }
  pqCoreUtilities::connect(reader, vtkCommand::StartEvent, this, SLOT(onStart()));
  pqCoreUtilities::connect(reader, vtkCommand::ProgressEvent, this, SLOT(onProgress(vtkObject*)));
  pqCoreUtilities::connect(reader, vtkCommand::EndEvent, this, SLOT(onEnd(vtkObject*)));
}

void pqReadAbort::onStart()
{
  if (!this->Keys) {
    return;  // at the end of the program
  }
  QWidget* window = pqCoreUtilities::mainWidget();
  if (!this->StatusBar && window) {
    this->StatusBar = window->findChild<pqProgressWidget*>();
  }
  this->Aborting = false;
  this->Keys->Begin(this->StatusBar ? this->StatusBar->abortButton() : nullptr);
  this->enableButton(true);
}

void pqReadAbort::onProgress(vtkObject* reader)
{
  if (this->StatusBar) {
    // It paints itself when the percentage changes, and not when the text alone does.
    this->StatusBar->repaint();
  }
  if (this->Keys && this->Keys->Pressed() && !this->Aborting) {
    this->Aborting = true;
    // SetAbortExecute() would count as a change of the reader.
    vtkAlgorithm::SafeDownCast(reader)->AbortExecute = 1;
  }
}

void pqReadAbort::onEnd(vtkObject* reader)
{
  if (!this->Keys) {
    return;
  }
  this->Keys->End();
  this->enableButton(false);
  if (this->Aborting) {
    this->offerApply(reader);
  }
}

void pqReadAbort::enableButton(bool enable)
{
  pqApplicationCore::instance()->getProgressManager()->setEnableAbort(enable);
  if (this->StatusBar) {
    this->StatusBar->abortButton()->repaint();
  }
}

void pqReadAbort::offerApply(vtkObject* reader)
{
  // Not within the update.
  const QPointer<pqPipelineSource> source = SourceOf(reader);
  QMetaObject::invokeMethod(
      this,
      [this, source] {
        if (source) {
          StopAnimations(source->getProxy());
          this->Aborted.insert(source);
          source->setModifiedState(pqProxy::MODIFIED);
        }
      },
      Qt::QueuedConnection);
}

/// Apply has been pressed, or it is offered.
void pqReadAbort::onModifiedStateChanged(pqServerManagerModelItem* item)
{
  auto* source = qobject_cast<pqPipelineSource*>(item);
  if (source && source->modifiedState() == pqProxy::UNMODIFIED && this->Aborted.remove(source)) {
    source->getProxy()->InvokeCommand("ReadAgain");
    source->getProxy()->MarkDirty(source->getProxy());
  }
}
