// Ctrl-C: the study ends soon, its results stay and its test files go.
#pragma once

#include <atomic>
#include <string>

namespace patchio::probe {

/// Catches SIGINT, SIGTERM and SIGHUP while it lives; a second one has its usual effect, which is to end the
/// process at once. If several live at once, only the first does anything.
class Interrupt
{
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True once a signal has come to this process. Costs nothing.
  static bool Asked() { return Flag(); }
  /// The same, for those that look themselves.
  static const std::atomic<bool>& Flag();
  /// A signal removes this file, or folder that is empty by then, at once, the last one first: mpirun kills
  /// what has not ended a second after Ctrl-C, and so does the user's second. At most 64; more are removed at
  /// the end only.
  static void RemoveAtSignal(const std::string& file);
  /// Forgets all files.
  static void ForgetFiles();
};

/// While it lives, a signal removes no file yet; its end makes up for that. A second one removes all the
/// same, and a third ends the process. Not to be nested.
class KeepFiles
{
public:
  KeepFiles();
  ~KeepFiles();
  KeepFiles(const KeepFiles&) = delete;
  KeepFiles& operator=(const KeepFiles&) = delete;
};

}  // namespace patchio::probe
