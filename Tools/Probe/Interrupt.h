// The early end of a measurement by a signal, such as Ctrl-C. The results stay, and the test files are
// removed.
#pragma once

#include <atomic>
#include <string>

namespace patchio::probe {

/// Catches SIGINT, SIGTERM and SIGHUP during the lifetime of the object. A second signal ends the process at
/// once, as usual. If several objects exist at the same time, only the first one has an effect.
class Interrupt
{
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Returns whether this process has received a signal. The call is cheap.
  static bool Received() { return Flag(); }
  /// Returns the flag behind Received(), for callers that poll a flag.
  static const std::atomic<bool>& Flag();
  /// Registers a file, or a folder, that a signal removes. The file registered last is removed first, and a
  /// folder must be empty by then. The signal handler itself removes the files, because mpirun kills
  /// processes one second after Ctrl-C, or at a second Ctrl-C. Registrations after the first 64 have no
  /// effect.
  static void RemoveAtSignal(const std::string& file);
  /// Removes all registrations of RemoveAtSignal(). The files stay.
  static void ForgetFiles();
};

/// Delays the removal of files after a signal to the end of the object's lifetime. A second signal removes
/// the files at once, and a third one ends the process. Objects of this class must not be nested.
class RemovalDelay
{
public:
  RemovalDelay();
  ~RemovalDelay();
  RemovalDelay(const RemovalDelay&) = delete;
  RemovalDelay& operator=(const RemovalDelay&) = delete;
};

}  // namespace patchio::probe
