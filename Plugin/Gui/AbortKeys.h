/**
 * @class AbortKeys
 * @brief notices Esc, and clicks on a button, while the program is too busy to look at its events
 *
 * ParaView's GUI does not process events while the pipeline executes, and to do so from within would let it
 * begin renderings and updates inside of one. So nothing is taken from the event queue here: a thread of its
 * own asks the X server, over a connection of its own, which keys and mouse buttons are down. It sleeps while
 * nobody watches.
 *
 * Only what is meant for this program counts: Esc while one of its windows has the keyboard, clicks on the
 * button itself. Where there is no X server (Wayland by itself), nothing is ever noticed: see IsAble().
 */
#ifndef AbortKeys_h
#define AbortKeys_h

#include <memory>

class QWidget;

class AbortKeys
{
public:
  AbortKeys();
  ~AbortKeys();
  AbortKeys(const AbortKeys&) = delete;
  AbortKeys& operator=(const AbortKeys&) = delete;

  bool IsAble() const;
  /// Watches from now on, until End(); what was pressed before is forgotten. button: on the screen; may be
  /// null.
  void Begin(const QWidget* button);
  void End();
  /// Whether there was something since Begin().
  bool Pressed() const;

private:
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#endif
