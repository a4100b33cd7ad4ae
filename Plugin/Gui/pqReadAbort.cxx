#include "pqReadAbort.h"

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
#include "vtkPVPatchReader.h"
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

/// Detects Esc, and clicks on the abort button, while the program does not process its events.
///
/// ParaView's GUI does not process events while the pipeline executes, because an event could start a
/// rendering or an update inside an update. So this class does not use the event queue: a thread with its own
/// connection polls the X server for the keys and mouse buttons that are down. The thread sleeps except
/// between Begin() and End().
///
/// Only input for this program counts: Esc while a window of the program has the keyboard focus, and clicks
/// on the button. Without an X server (pure Wayland), the class detects nothing, see IsAvailable().
class AbortKeys
{
public:
  AbortKeys();
  ~AbortKeys();
  AbortKeys(const AbortKeys&) = delete;
  AbortKeys& operator=(const AbortKeys&) = delete;

  /// Returns whether the class can detect input: the plugin has XCB, and the program uses an X server.
  bool IsAvailable() const;
  /// Forgets earlier presses, and polls from 100 ms later until End(). `button`: the abort button. Null: only
  /// Esc counts.
  void Begin(const QWidget* button);
  void End();
  /// Returns whether Esc or the button was pressed since Begin().
  bool WasPressed() const;

private:
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#ifdef PATCHIO_WITH_XCB

namespace {

/// The visible windows of the program, and the abort button.
struct Windows
{
  std::set<xcb_window_t> Ids;
  QRect Button;  ///< position and size on the screen, in pixels
};

Windows VisibleWindows(const QWidget* button)
{
  Windows windows;
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    if (widget->isVisible() && widget->internalWinId() != 0) {
      windows.Ids.insert(static_cast<xcb_window_t>(widget->internalWinId()));
    }
  }
  if (button && button->isVisible()) {
    const double scale = button->devicePixelRatioF();
    windows.Button = QRect(button->mapToGlobal(QPoint(0, 0)) * scale, button->size() * scale);
  }
  return windows;
}

/// Waits for the X server's reply to the request `cookie`. Returns null after an error, for example if the
/// window of the request no longer exists.
template <typename Reply, typename Cookie>
std::shared_ptr<Reply> WaitForReply(xcb_connection_t* connection, Cookie cookie,
    Reply* (*reply)(xcb_connection_t*, Cookie, xcb_generic_error_t**))
{
  xcb_generic_error_t* error = nullptr;
  const std::shared_ptr<Reply> received(reply(connection, cookie, &error), std::free);
  std::free(error);
  return received;
}

/// The state of keyboard and mouse, as the X server reports it. The class uses XCB, because an error of Xlib
/// ends the program unless all libraries in the program share an error handler.
class InputState
{
public:
  InputState() : Connection(xcb_connect(nullptr, nullptr))
  {
    if (this->IsConnected()) {
      this->Root = xcb_setup_roots_iterator(xcb_get_setup(this->Connection)).data->root;
      this->FindEscapeKeyCode();
    }
  }
  ~InputState() { xcb_disconnect(this->Connection); }
  InputState(const InputState&) = delete;
  InputState& operator=(const InputState&) = delete;

  bool IsConnected() const { return xcb_connection_has_error(this->Connection) == 0; }

  bool IsEscapeDown(const Windows& windows) const
  {
    const auto keys =
        WaitForReply(this->Connection, xcb_query_keymap(this->Connection), xcb_query_keymap_reply);
    return keys && this->EscapeKeyCode != 0 &&
           (keys->keys[this->EscapeKeyCode / 8] >> (this->EscapeKeyCode % 8) & 1) != 0 &&
           this->HasKeyboardFocus(windows);
  }

  bool IsButtonDown(const Windows& windows) const
  {
    const auto pointer = this->QueryPointer(windows);
    return pointer && (pointer->mask & XCB_BUTTON_MASK_1) != 0 &&
           windows.Button.contains(pointer->root_x, pointer->root_y);
  }

private:
  void FindEscapeKeyCode()
  {
    constexpr xcb_keysym_t escapeSymbol = 0xff1b;
    const xcb_setup_t* setup = xcb_get_setup(this->Connection);
    const int first = setup->min_keycode, count = setup->max_keycode - first + 1;
    const auto map = WaitForReply(this->Connection,
        xcb_get_keyboard_mapping(this->Connection, setup->min_keycode, static_cast<std::uint8_t>(count)),
        xcb_get_keyboard_mapping_reply);
    for (int i = 0; map && i < count && this->EscapeKeyCode == 0; ++i) {
      if (xcb_get_keyboard_mapping_keysyms(map.get())[i * map->keysyms_per_keycode] == escapeSymbol) {
        this->EscapeKeyCode = first + i;
      }
    }
  }

  bool HasKeyboardFocus(const Windows& windows) const
  {
    const auto focus =
        WaitForReply(this->Connection, xcb_get_input_focus(this->Connection), xcb_get_input_focus_reply);
    if (!focus || focus->focus == XCB_INPUT_FOCUS_POINTER_ROOT) {
      // Without a window manager, the window under the pointer gets the keys.
      return focus && this->QueryPointer(windows);
    }
    // Qt may give the focus to a child of a window.
    xcb_window_t window = focus->focus;
    while (window != XCB_NONE && windows.Ids.count(window) == 0) {
      const auto tree =
          WaitForReply(this->Connection, xcb_query_tree(this->Connection, window), xcb_query_tree_reply);
      window = tree ? tree->parent : XCB_NONE;
    }
    return window != XCB_NONE;
  }

  /// Returns the state of the pointer. Null: the pointer is outside the windows, or the query failed.
  std::shared_ptr<xcb_query_pointer_reply_t> QueryPointer(const Windows& windows) const
  {
    std::shared_ptr<xcb_query_pointer_reply_t> pointer;
    xcb_window_t window = this->Root;
    while (window != XCB_NONE && windows.Ids.count(window) == 0) {
      pointer = WaitForReply(
          this->Connection, xcb_query_pointer(this->Connection, window), xcb_query_pointer_reply);
      window = pointer ? pointer->child : XCB_NONE;
    }
    return window == XCB_NONE ? nullptr : pointer;
  }

  xcb_connection_t* const Connection;
  xcb_window_t Root = XCB_NONE;
  int EscapeKeyCode = 0;  ///< 0: unknown
};

}  // namespace

struct AbortKeys::Internals
{
  /// The time before the first query to the X server. A shorter read needs no abort.
  static constexpr std::chrono::milliseconds StartDelay{100};
  /// The interval between queries to the X server. The interval is shorter than the shortest key press.
  static constexpr std::chrono::milliseconds PollInterval{5};

  const InputState Input;
  std::mutex Mutex;
  std::condition_variable Change;
  Windows ProgramWindows;  ///< protected by Mutex
  bool Watching = false;   ///< protected by Mutex
  bool Stopping = false;   ///< protected by Mutex
  std::atomic<bool> Pressed{false};
  std::thread Thread;

  /// Polls the X server while Watching is true, until Stopping is true. The thread runs this method.
  void Poll()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    while (!this->Stopping) {
      this->Change.wait(lock, [this] { return this->Watching || this->Stopping; });
      this->Change.wait_for(lock, StartDelay, [this] { return !this->Watching || this->Stopping; });
      while (this->Watching && !this->Stopping) {
        if (this->Input.IsEscapeDown(this->ProgramWindows) ||
            this->Input.IsButtonDown(this->ProgramWindows)) {
          this->Pressed = true;
        }
        this->Change.wait_for(lock, PollInterval, [this] { return !this->Watching || this->Stopping; });
      }
    }
  }
};

AbortKeys::AbortKeys() : Internal(new Internals)
{
  if (QApplication::platformName() == "xcb" && this->Internal->Input.IsConnected()) {
    this->Internal->Thread = std::thread([this] { this->Internal->Poll(); });
  }
}

AbortKeys::~AbortKeys()
{
  if (this->IsAvailable()) {
    {
      const std::lock_guard<std::mutex> lock(this->Internal->Mutex);
      this->Internal->Stopping = true;
    }
    this->Internal->Change.notify_all();
    this->Internal->Thread.join();
  }
}

bool AbortKeys::IsAvailable() const
{
  return this->Internal->Thread.joinable();
}

void AbortKeys::Begin(const QWidget* button)
{
  const std::lock_guard<std::mutex> lock(this->Internal->Mutex);
  this->Internal->ProgramWindows = VisibleWindows(button);
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

bool AbortKeys::WasPressed() const
{
  return this->Internal->Pressed;
}

#else

struct AbortKeys::Internals
{
};
AbortKeys::AbortKeys() = default;
AbortKeys::~AbortKeys() = default;
bool AbortKeys::IsAvailable() const
{
  return false;
}
void AbortKeys::Begin(const QWidget*) {}
void AbortKeys::End() {}
bool AbortKeys::WasPressed() const
{
  return false;
}

#endif

namespace {

/// Stops the animations of the reader's server, so that they do not go on to the next step.
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

/// Returns the sources whose reader object is `reader`.
Sources SourcesOfReader(vtkObject* reader)
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

/// Returns the readers of `session` that react to abort messages.
Sources ReadersOfSession(const vtkPVSession* session)
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

/// Returns whether the user has stopped the last read of `reader`, according to the reader's I/O report.
bool WasAborted(vtkSMProxy* reader)
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
  if (!server->isRemote() || server->session()->IsMultiClients() || !this->Keys ||
      !this->Keys->IsAvailable()) {
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
  if (!proxy->GetProperty("ReadAgain") || !reader || !this->Keys || !this->Keys->IsAvailable()) {
    return;
  }
  pqCoreUtilities::connect(reader, vtkCommand::StartEvent, this, SLOT(onStart()));
  pqCoreUtilities::connect(reader, vtkCommand::ProgressEvent, this, SLOT(onProgress(vtkObject*)));
  pqCoreUtilities::connect(reader, vtkCommand::EndEvent, this, SLOT(onEnd(vtkObject*)));
}

void pqReadAbort::onStart()
{
  if (this->Keys) {  // null at the end of the program
    this->beginWatch();
    this->enableButton(true);
  }
}

void pqReadAbort::onProgress(vtkObject* reader)
{
  if (this->StatusBar) {
    // The status bar repaints itself when the percentage changes, but not when only the text changes.
    this->StatusBar->repaint();
  }
  if (this->Keys && this->Keys->WasPressed() && !this->Aborting) {
    this->Aborting = true;
    // SetAbortExecute() would count as a change of the reader.
    vtkAlgorithm::SafeDownCast(reader)->AbortExecute = 1;
  }
}

void pqReadAbort::onEnd(vtkObject* reader)
{
  if (this->endWatch()) {
    this->enableApply(SourcesOfReader(reader));
  }
}

void pqReadAbort::onWaitStart(vtkObject* handler)
{
  if (this->Keys && !ReadersOfSession(SessionOf(handler)).isEmpty()) {
    this->beginWatch();
  }
}

/// Sends the abort message if the user wants to stop the read. The server is executing, because the server
/// has sent progress. No other message to the server is in transit, because only this thread sends messages.
void pqReadAbort::onWaitProgress(vtkObject* handler)
{
  vtkPVSession* session = SessionOf(handler);
  if (!this->Keys || ReadersOfSession(session).isEmpty()) {
    return;
  }
  if (this->StatusBar) {
    this->StatusBar->repaint();
  }
  // Only the text shows which object executes. Objects other than PatchIO's readers ignore abort messages.
  const QString text = vtkPVProgressHandler::SafeDownCast(handler)->GetLastProgressText();
  if (!text.startsWith("Reading") && !text.startsWith("Locating")) {
    return;
  }
  this->enableButton(true);
  if (this->Keys->WasPressed()) {
    // The client sends the message repeatedly, because several requests in a row may read.
    this->Aborting = true;
    session->GetController(vtkPVSession::DATA_SERVER_ROOT)
        ->Send(vtkPVPatchReader::AbortText.data(), static_cast<vtkIdType>(vtkPVPatchReader::AbortText.size()),
            1, vtkPVPatchReader::AbortTag);
  }
}

void pqReadAbort::onWaitEnd(vtkObject* handler)
{
  if (this->endWatch()) {
    this->Aborting = false;
    this->enableApply(ReadersOfSession(SessionOf(handler)));
  }
}

/// Begins to watch Esc and the button, at the start of a read.
void pqReadAbort::beginWatch()
{
  QWidget* window = pqCoreUtilities::mainWidget();
  if (!this->StatusBar && window) {
    this->StatusBar = window->findChild<pqProgressWidget*>();
  }
  this->Aborting = false;
  this->Keys->Begin(this->StatusBar ? this->StatusBar->abortButton() : nullptr);
}

/// Ends the watch and disables the button at the end of a read. Returns whether the user wanted to stop this
/// read; false if the program ends.
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
  if (enable != this->ButtonEnabled) {
    this->ButtonEnabled = enable;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(enable);
    if (this->StatusBar) {
      this->StatusBar->abortButton()->repaint();
    }
  }
}

/// Enables Apply for the sources whose last read the user has stopped, and stops their animations.
void pqReadAbort::enableApply(const Sources& sources)
{
  // The call waits in the event queue until the update has ended.
  QMetaObject::invokeMethod(
      this,
      [this, sources] {
        for (const QPointer<pqPipelineSource>& source : sources) {
          if (source && WasAborted(source->getProxy())) {
            StopAnimations(source->getProxy());
            this->AbortedSources.insert(source);
            source->setModifiedState(pqProxy::MODIFIED);
          }
        }
      },
      Qt::QueuedConnection);
}

/// Makes an aborted source read again after the user has pressed Apply. Qt also calls this slot when Apply
/// becomes enabled.
void pqReadAbort::onModifiedStateChanged(pqServerManagerModelItem* item)
{
  auto* source = qobject_cast<pqPipelineSource*>(item);
  if (source && source->modifiedState() == pqProxy::UNMODIFIED && this->AbortedSources.remove(source)) {
    source->getProxy()->InvokeCommand("ReadAgain");
    source->getProxy()->MarkDirty(source->getProxy());
  }
}
