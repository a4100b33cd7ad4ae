#include "AbortKeys.h"

#include <QApplication>
#include <QRect>
#include <QWidget>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#ifdef PATCHIO_WITH_XCB
#include <cstdlib>

#include <xcb/xcb.h>

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
  /// The time before the first question to the X server, because a shorter read needs no interruption.
  static constexpr std::chrono::milliseconds Patience{100};
  /// The time between questions to the X server, less than the shortest press of a key.
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
