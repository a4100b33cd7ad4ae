// Early end of a measurement by a signal such as Ctrl-C, which keeps the results and removes the test files.
#pragma once

#include <atomic>
#include <string>

namespace patchio::probe {

/// Catches SIGINT, SIGTERM and SIGHUP during the lifetime of the object. A second signal has its usual
/// effect: it ends the process at once. If several objects exist at the same time, only the first one has an
/// effect.
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
  /// processes one second after Ctrl-C, and a second Ctrl-C kills them, too. A signal removes only the first
  /// 64 files.
  static void RemoveAtSignal(const std::string& file);
  /// Forgets all files of RemoveAtSignal().
  static void ForgetFiles();
};

/// Delays the removal of files after a signal to the end of the object's lifetime. A second signal removes
/// the files at once, and a third one ends the process. Objects of this class must not be nested.
class KeepFiles
{
public:
  KeepFiles();
  ~KeepFiles();
  KeepFiles(const KeepFiles&) = delete;
  KeepFiles& operator=(const KeepFiles&) = delete;
};

}  // namespace patchio::probe
