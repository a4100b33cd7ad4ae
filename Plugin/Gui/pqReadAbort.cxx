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

#include <QApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRect>
#include <QToolButton>
#include <QWidget>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#ifdef PATCHIO_WITH_XCB
#include <xcb/xcb.h>
#endif

/// Notices Esc, and clicks on a button, while the program does not process its events.
///
/// ParaView's GUI does not process events while the pipeline executes. To process them then would start
/// renderings and updates inside of an update. So this class leaves the event queue alone: its own thread
/// polls the X server, over its own connection, for the keys and mouse buttons that are down. The thread
/// sleeps except between Begin() and End().
///
/// Only input for this program counts: Esc while one of its windows has the keyboard, and clicks on the
/// button itself. Without an X server (pure Wayland), the class notices nothing, see IsAble().
class AbortKeys
{
public:
  AbortKeys();
  ~AbortKeys();
  AbortKeys(const AbortKeys&) = delete;
  AbortKeys& operator=(const AbortKeys&) = delete;

  bool IsAble() const;
  /// Watches from now on, until End(), and forgets earlier presses. button: the abort button on the screen;
  /// may be null.
  void Begin(const QWidget* button);
  void End();
  /// Returns whether Esc or the button was pressed since Begin().
  bool Pressed() const;

private:
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#ifdef PATCHIO_WITH_XCB

namespace {

/// The visible windows of the program, and its abort button.
struct Windows
{
  std::set<xcb_window_t> Own;
  QRect Button;  ///< pixels of the screen
};

Windows WindowsNow(const QWidget* button)
{
  Windows windows;
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    if (widget->isVisible() && widget->internalWinId() != 0) {
      windows.Own.insert(static_cast<xcb_window_t>(widget->internalWinId()));
    }
  }
  if (button && button->isVisible()) {
    const double scale = button->devicePixelRatioF();
    windows.Button = QRect(button->mapToGlobal(QPoint(0, 0)) * scale, button->size() * scale);
  }
  return windows;
}

/// Returns the X server's answer; null if there is none, for example because a window is gone.
template <typename Reply, typename Cookie>
std::shared_ptr<Reply> Answer(xcb_connection_t* server, Cookie cookie,
    Reply* (*reply)(xcb_connection_t*, Cookie, xcb_generic_error_t**))
{
  xcb_generic_error_t* error = nullptr;
  const std::shared_ptr<Reply> answer(reply(server, cookie, &error), std::free);
  std::free(error);
  return answer;
}

/// The state of keyboard and mouse. (With XCB, because an error of Xlib ends the program unless all its parts
/// share an error handler.)
class Keyboard
{
public:
  Keyboard() : Server(xcb_connect(nullptr, nullptr))
  {
    if (this->IsThere()) {
      this->Root = xcb_setup_roots_iterator(xcb_get_setup(this->Server)).data->root;
      this->FindEscape();
    }
  }
  ~Keyboard() { xcb_disconnect(this->Server); }
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  bool IsThere() const { return xcb_connection_has_error(this->Server) == 0; }

  bool EscapeIsDown(const Windows& windows) const
  {
    const auto keys = Answer(this->Server, xcb_query_keymap(this->Server), xcb_query_keymap_reply);
    return keys && this->Escape != 0 && (keys->keys[this->Escape / 8] >> (this->Escape % 8) & 1) != 0 &&
           this->HasKeyboard(windows);
  }

  bool ButtonIsDown(const Windows& windows) const
  {
    const auto pointer = this->PointerIn(windows);
    return pointer && (pointer->mask & XCB_BUTTON_MASK_1) != 0 &&
           windows.Button.contains(pointer->root_x, pointer->root_y);
  }

private:
  void FindEscape()
  {
    constexpr xcb_keysym_t escapeSymbol = 0xff1b;
    const xcb_setup_t* setup = xcb_get_setup(this->Server);
    const int first = setup->min_keycode, count = setup->max_keycode - first + 1;
    const auto map = Answer(this->Server,
        xcb_get_keyboard_mapping(this->Server, setup->min_keycode, static_cast<std::uint8_t>(count)),
        xcb_get_keyboard_mapping_reply);
    for (int i = 0; map && i < count && this->Escape == 0; ++i) {
      if (xcb_get_keyboard_mapping_keysyms(map.get())[i * map->keysyms_per_keycode] == escapeSymbol) {
        this->Escape = first + i;
      }
    }
  }

  bool HasKeyboard(const Windows& windows) const
  {
    const auto focus = Answer(this->Server, xcb_get_input_focus(this->Server), xcb_get_input_focus_reply);
    if (!focus || focus->focus == XCB_INPUT_FOCUS_POINTER_ROOT) {
      // Without a window manager, the window under the pointer gets the keys.
      return focus && this->PointerIn(windows);
    }
    // Qt may give the keyboard to a child of one of its windows.
    xcb_window_t window = focus->focus;
    while (window != XCB_NONE && windows.Own.count(window) == 0) {
      const auto tree = Answer(this->Server, xcb_query_tree(this->Server, window), xcb_query_tree_reply);
      window = tree ? tree->parent : XCB_NONE;
    }
    return window != XCB_NONE;
  }

  /// Returns the state of the pointer; null if it is in none of the windows.
  std::shared_ptr<xcb_query_pointer_reply_t> PointerIn(const Windows& windows) const
  {
    std::shared_ptr<xcb_query_pointer_reply_t> pointer;
    xcb_window_t window = this->Root;
    while (window != XCB_NONE && windows.Own.count(window) == 0) {
      pointer = Answer(this->Server, xcb_query_pointer(this->Server, window), xcb_query_pointer_reply);
      window = pointer ? pointer->child : XCB_NONE;
    }
    return window == XCB_NONE ? nullptr : pointer;
  }

  xcb_connection_t* const Server;
  xcb_window_t Root = XCB_NONE;
  int Escape = 0;  ///< key code
};

}  // namespace

struct AbortKeys::Internals
{
  /// The time before the first query to the X server, because a shorter read needs no interruption.
  static constexpr std::chrono::milliseconds Patience{100};
  /// The interval between queries to the X server, shorter than the shortest key press.
  static constexpr std::chrono::milliseconds Interval{5};

  const Keyboard Keys;
  std::mutex Mutex;
  std::condition_variable Change;
  Windows Known;          ///< under the mutex
  bool Watching = false;  ///< under the mutex
  bool Over = false;      ///< under the mutex
  std::atomic<bool> Pressed{false};
  std::thread Watcher;

  void Watch()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    while (!this->Over) {
      this->Change.wait(lock, [this] { return this->Watching || this->Over; });
      this->Change.wait_for(lock, Patience, [this] { return !this->Watching || this->Over; });
      while (this->Watching && !this->Over) {
        if (this->Keys.EscapeIsDown(this->Known) || this->Keys.ButtonIsDown(this->Known)) {
          this->Pressed = true;
        }
        this->Change.wait_for(lock, Interval, [this] { return !this->Watching || this->Over; });
      }
    }
  }
};

AbortKeys::AbortKeys() : Internal(new Internals)
{
  if (QApplication::platformName() == "xcb" && this->Internal->Keys.IsThere()) {
    this->Internal->Watcher = std::thread([this] { this->Internal->Watch(); });
  }
}

AbortKeys::~AbortKeys()
{
  if (this->IsAble()) {
    {
      const std::lock_guard<std::mutex> lock(this->Internal->Mutex);
      this->Internal->Over = true;
    }
    this->Internal->Change.notify_all();
    this->Internal->Watcher.join();
  }
}

bool AbortKeys::IsAble() const
{
  return this->Internal->Watcher.joinable();
}

void AbortKeys::Begin(const QWidget* button)
{
  const std::lock_guard<std::mutex> lock(this->Internal->Mutex);
  this->Internal->Known = WindowsNow(button);
  this->Internal->Pressed = false;
  this->Internal->Watching = true;
  this->Internal->Change.notify_all();
}

void AbortKeys::End()
{
  const std::lock_guard<std::mutex> lock(this->Internal->Mutex);
  this->Internal->Watching = false;
  this->Internal->Change.notify_all();
}

bool AbortKeys::Pressed() const
{
  return this->Internal->Pressed;
}

#else

struct AbortKeys::Internals
{
};
AbortKeys::AbortKeys() = default;
AbortKeys::~AbortKeys() = default;
bool AbortKeys::IsAble() const
{
  return false;
}
void AbortKeys::Begin(const QWidget*) {}
void AbortKeys::End() {}
bool AbortKeys::Pressed() const
{
  return false;
}

#endif

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
  // Only with a builtin server is the reader in this process.
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
/// executing. No other message to the server is in transit, because only this thread sends.
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
    // The client sends the message repeatedly, because several requests in a row may read.
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

/// Begins to watch Esc and the button, at the start of each read.
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

/// Makes an aborted source read again. Qt calls this slot when the user has pressed Apply, and when Apply
/// becomes enabled.
void pqReadAbort::onModifiedStateChanged(pqServerManagerModelItem* item)
{
  auto* source = qobject_cast<pqPipelineSource*>(item);
  if (source && source->modifiedState() == pqProxy::UNMODIFIED && this->Aborted.remove(source)) {
    source->getProxy()->InvokeCommand("ReadAgain");
    source->getProxy()->MarkDirty(source->getProxy());
  }
}
