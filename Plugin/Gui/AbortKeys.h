/**
 * @class AbortKeys
 * @brief notices Esc, and clicks on a button, while the program does not process its events
 *
 * ParaView's GUI does not process events while the pipeline executes. To process them then would start
 * renderings and updates inside of an update. So this class leaves the event queue alone: its own thread asks
 * the X server, over its own connection, which keys and mouse buttons are down. The thread sleeps outside of
 * Begin() and End().
 *
 * Only input for this program counts: Esc while one of its windows has the keyboard, and clicks on the button
 * itself. Without an X server (pure Wayland) nothing is noticed, see IsAble().
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

#endif
