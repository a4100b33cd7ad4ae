#include "pqReadAbort.h"

#include "AbortMessage.h"
#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"

#include "vtkAlgorithm.h"
#include "vtkCollection.h"
#include "vtkCommand.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkPVProgressHandler.h"
#include "vtkPVSession.h"
#include "vtkPVXMLElement.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSession.h"
#include "vtkSMSessionProxyManager.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QToolButton>
#include <QWidget>

namespace {

/// Stops a playing animation, so that it does not go on to the next step.
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

using Sources = QList<QPointer<pqPipelineSource>>;

/// Returns the sources that have this reader object.
Sources SourcesOf(vtkObject* reader)
{
  Sources found;
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (source->getProxy()->GetClientSideObject() == reader) {
      found.append(source);
    }
  }
  return found;
}

/// Returns the readers of a pvserver that can be stopped.
Sources SourcesOf(const vtkPVSession* session)
{
  Sources found;
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    vtkPVXMLElement* hints = source->getProxy()->GetHints();
    if (source->getServer()->session() == session && hints &&
        hints->FindNestedElementByName("TakesAbortMessage")) {
      found.append(source);
    }
  }
  return found;
}

vtkPVSession* SessionOf(vtkObject* progressHandler)
{
  return vtkPVProgressHandler::SafeDownCast(progressHandler)->GetSession();
}

/// Returns whether the last read of a reader was stopped, according to its report.
bool WasStopped(vtkSMProxy* reader)
{
  vtkSMProperty* report = reader->GetProperty("IOReportData");
  reader->UpdatePropertyInformation(report);
  const QByteArray text = vtkSMPropertyHelper(report).GetAsString();
  return QJsonDocument::fromJson(text).object()["cancelled"].toBool();
}

}  // namespace

pqReadAbort::pqReadAbort(QObject* parentObject) : Superclass(parentObject) {}

pqReadAbort::~pqReadAbort() = default;

void pqReadAbort::startup()
{
  this->Keys = std::make_unique<AbortKeys>();
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqServer* server : model->findItems<pqServer*>()) {
    this->addServer(server);
  }
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    this->addSource(source);
  }
  this->connect(model, SIGNAL(serverAdded(pqServer*)), SLOT(addServer(pqServer*)));
  this->connect(model, SIGNAL(sourceAdded(pqPipelineSource*)), SLOT(addSource(pqPipelineSource*)));
  this->connect(model, SIGNAL(modifiedStateChanged(pqServerManagerModelItem*)),
      SLOT(onModifiedStateChanged(pqServerManagerModelItem*)));
}

void pqReadAbort::shutdown()
{
  this->Keys.reset();
}

void pqReadAbort::addServer(pqServer* server)
{
  // A server with several clients sends them no progress while it executes.
  if (!server->isRemote() || server->session()->IsMultiClients() || !this->Keys || !this->Keys->IsAble()) {
    return;
  }
  vtkPVProgressHandler* handler = server->session()->GetProgressHandler();
  pqCoreUtilities::connect(handler, vtkCommand::StartEvent, this, SLOT(onWaitStart(vtkObject*)));
  pqCoreUtilities::connect(handler, vtkCommand::ProgressEvent, this, SLOT(onWaitProgress(vtkObject*)));
  pqCoreUtilities::connect(handler, vtkCommand::EndEvent, this, SLOT(onWaitEnd(vtkObject*)));
}

void pqReadAbort::addSource(pqPipelineSource* source)
{
  vtkSMProxy* proxy = source->getProxy();
  // The reader is in this process only with a builtin server.
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
  if (this->Keys) {  // null at the end of the program
    this->watchKeys();
    this->enableButton(true);
  }
}

void pqReadAbort::onProgress(vtkObject* reader)
{
  if (this->StatusBar) {
    // The status bar repaints itself when the percentage changes, but not when only the text does.
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
  if (this->endWatch()) {
    this->offerApply(SourcesOf(reader));
  }
}

void pqReadAbort::onWaitStart(vtkObject* handler)
{
  if (this->Keys && !SourcesOf(SessionOf(handler)).isEmpty()) {
    this->watchKeys();
  }
}

/// Sends the abort message if the user wants to stop the read. The server has sent progress, so it is
/// working. No other message to the server is under way, because only this thread sends.
void pqReadAbort::onWaitProgress(vtkObject* handler)
{
  vtkPVSession* session = SessionOf(handler);
  if (!this->Keys || SourcesOf(session).isEmpty()) {
    return;
  }
  if (this->StatusBar) {
    this->StatusBar->repaint();
  }
  // Only the text tells which object executes. Objects other than PatchIO's readers ignore abort messages.
  const QString text = vtkPVProgressHandler::SafeDownCast(handler)->GetLastProgressText();
  if (!text.startsWith("Reading") && !text.startsWith("Locating")) {
    return;
  }
  this->enableButton(true);
  if (this->Keys->Pressed()) {
    // Sent repeatedly, because several requests in a row may read.
    this->Aborting = true;
    session->GetController(vtkPVSession::DATA_SERVER_ROOT)
        ->Send(patchio::AbortText.data(), static_cast<vtkIdType>(patchio::AbortText.size()), 1,
            patchio::AbortTag);
  }
}

void pqReadAbort::onWaitEnd(vtkObject* handler)
{
  if (this->endWatch()) {
    this->Aborting = false;
    this->offerApply(SourcesOf(SessionOf(handler)));
  }
}

/// Begins to watch Esc and the button. Called for each read that begins.
void pqReadAbort::watchKeys()
{
  QWidget* window = pqCoreUtilities::mainWidget();
  if (!this->StatusBar && window) {
    this->StatusBar = window->findChild<pqProgressWidget*>();
  }
  this->Aborting = false;
  this->Keys->Begin(this->StatusBar ? this->StatusBar->abortButton() : nullptr);
}

/// Ends the watch. Returns whether the user wanted to stop the read that has ended.
bool pqReadAbort::endWatch()
{
  if (!this->Keys) {
    return false;  // the program ends
  }
  this->Keys->End();
  this->enableButton(false);
  return this->Aborting;
}

void pqReadAbort::enableButton(bool enable)
{
  if (enable != this->ButtonIsEnabled) {
    this->ButtonIsEnabled = enable;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(enable);
    if (this->StatusBar) {
      this->StatusBar->abortButton()->repaint();
    }
  }
}

/// Enables Apply for the sources that were in fact stopped.
void pqReadAbort::offerApply(const Sources& sources)
{
  // This runs after the update.
  QMetaObject::invokeMethod(
      this,
      [this, sources] {
        for (const QPointer<pqPipelineSource>& source : sources) {
          if (source && WasStopped(source->getProxy())) {
            StopAnimations(source->getProxy());
            this->Aborted.insert(source);
            source->setModifiedState(pqProxy::MODIFIED);
          }
        }
      },
      Qt::QueuedConnection);
}

/// Makes an aborted source read again. Called when Apply was pressed, and when Apply becomes enabled.
void pqReadAbort::onModifiedStateChanged(pqServerManagerModelItem* item)
{
  auto* source = qobject_cast<pqPipelineSource*>(item);
  if (source && source->modifiedState() == pqProxy::UNMODIFIED && this->Aborted.remove(source)) {
    source->getProxy()->InvokeCommand("ReadAgain");
    source->getProxy()->MarkDirty(source->getProxy());
  }
}
