#include "pqReaderBehaviors.h"

#include "pqAnimationManager.h"
#include "pqAnimationScene.h"
#include "pqDataRepresentation.h"
#include "pqPVApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqRenderView.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"
#include "pqUndoStack.h"

#include "vtkClientServerStream.h"
#include "vtkDataObject.h"
#include "vtkNew.h"
#include "vtkPVDataInformation.h"
#include "vtkSMParaViewPipelineController.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSession.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"

#include <QApplication>
#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QListWidget>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr const char* ProxyName = "PatchReader";

/// Milliseconds between two looks for new time steps.
constexpr int LookMilliseconds = 3000;
/// Milliseconds from a change of what the views show to the update of dates and lists.
constexpr int ShownMilliseconds = 20;

bool IsOurs(pqPipelineSource* source)
{
  return source && QString(source->getProxy()->GetXMLName()) == ProxyName;
}

/// Renames the entry of PatchIO's reader in pqSelectReaderDialog, which keeps the proxy's name with each
/// label.
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

/// Adds to the panel's list the arrays that a reload or a change of the step has brought.
void OfferNewArrays(vtkSMProxy* reader, const char* list, const char* available)
{
  vtkSMPropertyHelper listed(reader, list), found(reader, available);
  std::vector<std::pair<std::string, std::string>> news;  // name and setting
  for (unsigned int i = 0; i + 1 < found.GetNumberOfElements(); i += 2) {
    const char* const name = found.GetAsString(i);
    bool isListed = false;
    for (unsigned int k = 0; !isListed && k + 1 < listed.GetNumberOfElements(); k += 2) {
      isListed = std::strcmp(name, listed.GetAsString(k)) == 0;
    }
    if (!isListed) {
      news.emplace_back(name, found.GetAsString(i + 1));
    }
  }
  for (const auto& [name, setting] : news) {
    const unsigned int end = listed.GetNumberOfElements();
    listed.Set(end, name.c_str());
    listed.Set(end + 1, setting.c_str());
  }
  if (!news.empty()) {
    reader->UpdateVTKObjects();
  }
}

bool HasDate(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  return vtkSMPropertyHelper(reader, "ShowDate").GetAsInt() != 0 &&
         reader->GetDataInformation(0)->GetArrayInformation("date", vtkDataObject::FIELD);
}

/// Returns whether the view shows the source, or a filter of it.
bool Shows(pqView* view, pqPipelineSource* source)
{
  const QList<pqDataRepresentation*> all = source->getRepresentations(view);
  const QList<pqPipelineSource*> made = source->getAllConsumers();
  return std::any_of(all.begin(), all.end(), [](pqDataRepresentation* one) { return one->isVisible(); }) ||
         std::any_of(made.begin(), made.end(), [&](pqPipelineSource* one) { return Shows(view, one); });
}

/// Calls LookForNewSteps() on all ranks of the reader's server. The call bypasses the proxy, because the
/// proxy would count the call as a change.
bool FindsNewSteps(vtkSMSourceProxy* reader)
{
  vtkClientServerStream stream;
  stream << vtkClientServerStream::Invoke << VTKOBJECT(reader) << "LookForNewSteps"
         << vtkClientServerStream::End;
  reader->GetSession()->ExecuteStream(reader->GetLocation(), stream);
  bool found = false;
  return reader->GetSession()->GetLastResult(reader->GetLocation()).GetArgument(0, 0, &found) && found;
}

double LastTimeOf(vtkSMSourceProxy* reader)
{
  const vtkSMPropertyHelper times(reader, "TimestepValues");
  const unsigned int count = times.GetNumberOfElements();
  return count > 0 ? times.GetAsDouble(count - 1) : -std::numeric_limits<double>::infinity();
}

pqAnimationScene* SceneOf(pqPipelineSource* source)
{
  auto* core = pqPVApplicationCore::instance();
  return core && core->animationManager() ? core->animationManager()->getScene(source->getServer()) : nullptr;
}

}  // namespace

void DateInView::Refresh(pqPipelineSource* source)
{
  const bool wanted = HasDate(source);
  for (pqView* view : source->getViews()) {
    if (wanted && Shows(view, source) && qobject_cast<pqRenderView*>(view) &&
        !this->Labels.count({source, view})) {
      this->Labels[{source, view}] = this->Make(source, view);
    }
  }
  for (auto& [where, label] : this->Labels) {
    if (where.first == source && label.View && label.Text) {
      const int visible = wanted && Shows(label.View, source);
      if (vtkSMPropertyHelper(label.Text, "Visibility").GetAsInt() != visible) {
        vtkSMPropertyHelper(label.Text, "Visibility").Set(visible);
        label.Text->UpdateVTKObjects();
        label.View->render();
      }
    }
  }
}

/// Makes a text by ParaView's Annotate Global Data, which follows the time of the view.
DateInView::Label DateInView::Make(pqPipelineSource* source, pqView* view) const
{
  vtkSMSessionProxyManager* manager = source->getProxy()->GetSessionProxyManager();
  auto filter = vtkSmartPointer<vtkSMProxy>::Take(manager->NewProxy("filters", "AnnotateGlobalData"));
  auto text =
      vtkSmartPointer<vtkSMProxy>::Take(manager->NewProxy("representations", "TextSourceRepresentation"));
  if (!filter || !text) {
    return {};
  }
  vtkNew<vtkSMParaViewPipelineController> controller;
  controller->PreInitializeProxy(filter);
  vtkSMPropertyHelper(filter, "Input").Set(source->getProxy());
  vtkSMPropertyHelper(filter, "SelectArrays").Set("date");
  vtkSMPropertyHelper(filter, "Prefix").Set("");
  vtkSMPropertyHelper(filter, "Format").Set("%s");
  controller->PostInitializeProxy(filter);
  filter->UpdateVTKObjects();
  controller->PreInitializeProxy(text);
  vtkSMPropertyHelper(text, "Input").Set(filter);
  vtkSMPropertyHelper(text, "Visibility").Set(0);
  controller->PostInitializeProxy(text);
  text->UpdateVTKObjects();
  for (const auto& proxy : {filter, text}) {
    proxy->PrototypeOn();  // keeps it out of the undo stack
  }
  // ParaView's widgets are shown in the same way.
  vtkSMPropertyHelper(view->getProxy(), "HiddenRepresentations").Add(text);
  view->getProxy()->UpdateVTKObjects();
  return {view, text};
}

void DateInView::Remove(pqPipelineSource* source)
{
  for (auto entry = this->Labels.begin(); entry != this->Labels.end();) {
    if (entry->first.first != source) {
      ++entry;
      continue;
    }
    if (pqView* view = entry->second.View) {
      vtkSMPropertyHelper(view->getProxy(), "HiddenRepresentations").Remove(entry->second.Text);
      view->getProxy()->UpdateVTKObjects();
    }
    entry = this->Labels.erase(entry);
  }
}

void SeriesFollower::Look(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  if (vtkSMPropertyHelper(reader, "Follow").GetAsInt() == 0) {
    this->Remove(source);
    return;
  }
  // Another action, such as Apply, may have found new steps since the last look.
  const double before = this->LastTimes.value(source, LastTimeOf(reader));
  SCOPED_UNDO_EXCLUDE();
  if (FindsNewSteps(reader)) {
    reader->UpdatePipelineInformation();
  }
  const double last = LastTimeOf(reader);
  this->LastTimes[source] = last;
  pqAnimationScene* scene = SceneOf(source);
  if (scene && scene->getAnimationTime() >= before && scene->getAnimationTime() < last) {
    scene->setAnimationTime(last);
  }
}

pqReaderBehaviors::pqReaderBehaviors(QObject* parentObject) : Superclass(parentObject) {}

pqReaderBehaviors::~pqReaderBehaviors() = default;

void pqReaderBehaviors::startup()
{
  pqApplicationCore* core = pqApplicationCore::instance();
  pqServerManagerModel* model = core->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    this->onSourceAdded(source);
  }
  this->connect(model, SIGNAL(sourceAdded(pqPipelineSource*)), SLOT(onSourceAdded(pqPipelineSource*)));
  this->connect(model, SIGNAL(preSourceRemoved(pqPipelineSource*)), SLOT(onSourceRemoved(pqPipelineSource*)));
  qApp->installEventFilter(this);
  if (auto* application = pqPVApplicationCore::instance()) {
    pqAnimationManager* animation = application->animationManager();
    // ParaView 5.11 has signals of the same names without arguments, too.
    using Signal = QOverload<vtkObject*, unsigned long, void*, void*>;
    QObject::connect(
        animation, Signal::of(&pqAnimationManager::beginPlay), this, [this] { this->IsPlaying = true; });
    QObject::connect(
        animation, Signal::of(&pqAnimationManager::endPlay), this, [this] { this->IsPlaying = false; });
  }
  this->ShownTimer.setSingleShot(true);
  this->ShownTimer.setInterval(ShownMilliseconds);
  this->connect(&this->ShownTimer, SIGNAL(timeout()), SLOT(onShownTimer()));
  this->connect(&this->Timer, SIGNAL(timeout()), SLOT(onTimer()));
  this->Timer.start(LookMilliseconds);
}

void pqReaderBehaviors::shutdown()
{
  this->Timer.stop();
  this->ShownTimer.stop();
  qApp->removeEventFilter(this);
}

bool pqReaderBehaviors::eventFilter(QObject* watched, QEvent* event)
{
  if (event->type() == QEvent::Show && watched->inherits("pqSelectReaderDialog")) {
    NameReaderIn(watched);
  }
  return this->Superclass::eventFilter(watched, event);
}

void pqReaderBehaviors::onSourceAdded(pqPipelineSource* source)
{
  this->ShownTimer.connect(
      source, SIGNAL(visibilityChanged(pqPipelineSource*, pqDataRepresentation*)), SLOT(start()));
  if (!IsOurs(source)) {
    return;
  }
  this->ShownTimer.connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(start()));
  if (vtkSMPropertyHelper(source->getProxy(), "FileName").GetNumberOfElements() != 1) {
    return;
  }
  // ParaView keeps the user's answer in this property. False means: do not look for files with names like
  // that of the opened file.
  source->setProperty("pqReloadFilesReaction::CachedState", false);
  const QFileInfo file(vtkSMPropertyHelper(source->getProxy(), "FileName").GetAsString());
  const QString name = source->getSMName();
  if (name == file.fileName() && (name == "Header" || name == "index" || name == "summary.samrai")) {
    source->rename(file.dir().dirName());
  }
}

/// Updates the lists of arrays, and the dates. The timer may also fire within a render, which handles events
/// while it reads. A date that is made visible within a render is drawn without its data, and ParaView 6.1
/// crashes then.
void pqReaderBehaviors::onShownTimer()
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqServer* server : model->findItems<pqServer*>()) {
    if (server->isProgressPending()) {
      this->ShownTimer.start();
      return;
    }
  }
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (IsOurs(source)) {
      OfferNewArrays(source->getProxy(), "CellArrayStatus", "CellArrayInfo");
      OfferNewArrays(source->getProxy(), "PointArrayStatus", "PointArrayInfo");
      this->Dates.Refresh(source);
    }
  }
}

void pqReaderBehaviors::onSourceRemoved(pqPipelineSource* source)
{
  this->Dates.Remove(source);
  this->Follower.Remove(source);
}

/// Looks for new steps. The timer may also fire within a read, or while the user answers a question or turns
/// the picture.
void pqReaderBehaviors::onTimer()
{
  if (this->IsPlaying || QApplication::activeModalWidget() || QApplication::mouseButtons() != Qt::NoButton) {
    return;
  }
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (IsOurs(source) && !source->getServer()->isProgressPending()) {
      this->Follower.Look(source);
    }
  }
}
