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
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr const char* ProxyName = "PatchReader";

/// Interval in milliseconds between polls for new time steps.
constexpr int PollMilliseconds = 3000;
/// Milliseconds from a change of the displayed data to the update of dates and lists of arrays.
constexpr int RefreshMilliseconds = 20;

bool IsPatchReader(pqPipelineSource* source)
{
  return source && QString(source->getProxy()->GetXMLName()) == ProxyName;
}

/// Renames the entry of PatchIO's reader in `dialog`, a pqSelectReaderDialog. Each entry has the name of its
/// proxy in the role Qt::UserRole + 1.
void RenameReaderEntry(QObject* dialog)
{
  for (QListWidget* list : dialog->findChildren<QListWidget*>()) {
    for (int i = 0; i < list->count(); ++i) {
      if (list->item(i)->data(Qt::UserRole + 1).toString() == ProxyName) {
        list->item(i)->setText("PatchIO (" PATCHIO_FORMATS_IN_SHORT ")");
      }
    }
  }
}

/// Adds the arrays of the property `available` that the panel's list, the property `list`, lacks, with their
/// settings (selected or not). A reload or a change of the step may have brought new arrays.
void AddNewArrays(vtkSMProxy* reader, const char* list, const char* available)
{
  vtkSMPropertyHelper listed(reader, list), found(reader, available);
  std::vector<std::pair<std::string, std::string>> added;  // name and setting
  for (unsigned int i = 0; i + 1 < found.GetNumberOfElements(); i += 2) {
    const char* const name = found.GetAsString(i);
    bool isListed = false;
    for (unsigned int k = 0; !isListed && k + 1 < listed.GetNumberOfElements(); k += 2) {
      isListed = std::strcmp(name, listed.GetAsString(k)) == 0;
    }
    if (!isListed) {
      added.emplace_back(name, found.GetAsString(i + 1));
    }
  }
  for (const auto& [name, setting] : added) {
    const unsigned int end = listed.GetNumberOfElements();
    listed.Set(end, name.c_str());
    listed.Set(end + 1, setting.c_str());
  }
  if (!added.empty()) {
    reader->UpdateVTKObjects();
  }
}

/// Returns whether the data of the reader `source` have a date, and the reader's property ShowDate is on.
bool ShouldShowDate(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  return vtkSMPropertyHelper(reader, "ShowDate").GetAsInt() != 0 &&
         reader->GetDataInformation(0)->GetArrayInformation("date", vtkDataObject::FIELD);
}

/// Returns whether `view` shows `source`, or a filter that is applied to `source`.
bool IsShownIn(pqPipelineSource* source, pqView* view)
{
  const QList<pqDataRepresentation*> representations = source->getRepresentations(view);
  const QList<pqPipelineSource*> consumers = source->getAllConsumers();
  return std::any_of(representations.begin(), representations.end(),
             [](pqDataRepresentation* item) { return item->isVisible(); }) ||
         std::any_of(consumers.begin(), consumers.end(),
             [&](pqPipelineSource* consumer) { return IsShownIn(consumer, view); });
}

/// Calls LookForNewSteps() on all ranks of the reader's server. Returns whether the reader has found new time
/// steps. The call bypasses the proxy, because the proxy would count the call as a change.
bool CheckForNewSteps(vtkSMSourceProxy* reader)
{
  vtkClientServerStream stream;
  stream << vtkClientServerStream::Invoke << VTKOBJECT(reader) << "LookForNewSteps"
         << vtkClientServerStream::End;
  reader->GetSession()->ExecuteStream(reader->GetLocation(), stream);
  bool found = false;
  return reader->GetSession()->GetLastResult(reader->GetLocation()).GetArgument(0, 0, &found) && found;
}

/// Returns the last time of the reader; minus infinity if the reader has no times.
double LastTimeOf(vtkSMSourceProxy* reader)
{
  const vtkSMPropertyHelper times(reader, "TimestepValues");
  const unsigned int count = times.GetNumberOfElements();
  return count > 0 ? times.GetAsDouble(count - 1) : -std::numeric_limits<double>::infinity();
}

/// Returns the animation of the source's server; null without an animation, and outside ParaView's GUI.
pqAnimationScene* AnimationSceneOf(pqPipelineSource* source)
{
  auto* core = pqPVApplicationCore::instance();
  return core && core->animationManager() ? core->animationManager()->getScene(source->getServer()) : nullptr;
}

}  // namespace

void DateInView::Refresh(pqPipelineSource* source)
{
  // A new view may get the address of a deleted view.
  for (auto entry = this->Labels.begin(); entry != this->Labels.end();) {
    entry = entry->second.View ? std::next(entry) : this->Labels.erase(entry);
  }
  const bool showDate = ShouldShowDate(source);
  for (pqView* view : source->getViews()) {
    if (showDate && IsShownIn(source, view) && qobject_cast<pqRenderView*>(view) &&
        !this->Labels.count({source, view})) {
      this->Labels[{source, view}] = this->MakeLabel(source, view);
    }
  }
  for (auto& [key, label] : this->Labels) {
    if (key.first == source && label.View) {
      const int visible = showDate && IsShownIn(source, label.View);
      if (vtkSMPropertyHelper(label.Text, "Visibility").GetAsInt() != visible) {
        vtkSMPropertyHelper(label.Text, "Visibility").Set(visible);
        label.Text->UpdateVTKObjects();
        label.View->render();
      }
    }
  }
}

/// Makes a hidden text with the date of `source`, by ParaView's Annotate Global Data, which follows the time
/// of the view. Returns an empty Label if ParaView lacks a proxy for the text.
DateInView::Label DateInView::MakeLabel(pqPipelineSource* source, pqView* view) const
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
    proxy->PrototypeOn();  // keeps the proxy out of the undo stack
  }
  // ParaView shows its own widgets in the same way.
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

void SeriesFollower::Poll(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  if (vtkSMPropertyHelper(reader, "Follow").GetAsInt() == 0) {
    this->Remove(source);
    return;
  }
  // Another action, such as Apply, may have found new steps since the last poll.
  const double before = this->LastTimes.value(source, LastTimeOf(reader));
  SCOPED_UNDO_EXCLUDE();
  if (CheckForNewSteps(reader)) {
    reader->UpdatePipelineInformation();
  }
  const double last = LastTimeOf(reader);
  this->LastTimes[source] = last;
  pqAnimationScene* scene = AnimationSceneOf(source);
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
  this->RefreshTimer.setSingleShot(true);
  this->RefreshTimer.setInterval(RefreshMilliseconds);
  this->connect(&this->RefreshTimer, SIGNAL(timeout()), SLOT(onRefreshTimer()));
  this->connect(&this->PollTimer, SIGNAL(timeout()), SLOT(onPollTimer()));
  this->PollTimer.start(PollMilliseconds);
}

void pqReaderBehaviors::shutdown()
{
  this->PollTimer.stop();
  this->RefreshTimer.stop();
  qApp->removeEventFilter(this);
}

bool pqReaderBehaviors::eventFilter(QObject* watched, QEvent* event)
{
  if (event->type() == QEvent::Show && watched->inherits("pqSelectReaderDialog")) {
    RenameReaderEntry(watched);
  }
  return this->Superclass::eventFilter(watched, event);
}

void pqReaderBehaviors::onSourceAdded(pqPipelineSource* source)
{
  this->RefreshTimer.connect(
      source, SIGNAL(visibilityChanged(pqPipelineSource*, pqDataRepresentation*)), SLOT(start()));
  if (!IsPatchReader(source)) {
    return;
  }
  this->RefreshTimer.connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(start()));
  if (vtkSMPropertyHelper(source->getProxy(), "FileName").GetNumberOfElements() != 1) {
    return;
  }
  // ParaView keeps the user's answer in this property. With false, Reload Files does not search for files
  // with names similar to the name of the opened file.
  source->setProperty("pqReloadFilesReaction::CachedState", false);
  const QFileInfo file(vtkSMPropertyHelper(source->getProxy(), "FileName").GetAsString());
  const QString name = source->getSMName();
  if (name == file.fileName() && (name == "Header" || name == "index" || name == "summary.samrai")) {
    source->rename(file.dir().dirName());
  }
}

/// Updates the lists of arrays, and the dates. If a read or a render is in progress, tries again later: the
/// timer may fire within a render, because a render handles events while a reader reads. If a date became
/// visible within a render, ParaView would draw the date without its data, and ParaView 6.1 would crash.
void pqReaderBehaviors::onRefreshTimer()
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqServer* server : model->findItems<pqServer*>()) {
    if (server->isProgressPending()) {
      this->RefreshTimer.start();
      return;
    }
  }
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (IsPatchReader(source)) {
      AddNewArrays(source->getProxy(), "CellArrayStatus", "CellArrayInfo");
      AddNewArrays(source->getProxy(), "PointArrayStatus", "PointArrayInfo");
      this->Dates.Refresh(source);
    }
  }
}

void pqReaderBehaviors::onSourceRemoved(pqPipelineSource* source)
{
  this->Dates.Remove(source);
  this->Follower.Remove(source);
}

/// Polls all readers for new steps, unless an animation plays, a read is in progress, or the user answers a
/// question or turns the view.
void pqReaderBehaviors::onPollTimer()
{
  if (this->IsPlaying || QApplication::activeModalWidget() || QApplication::mouseButtons() != Qt::NoButton) {
    return;
  }
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>()) {
    if (IsPatchReader(source) && !source->getServer()->isProgressPending()) {
      this->Follower.Poll(source);
    }
  }
}
