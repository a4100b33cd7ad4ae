// The progress of a measurement and its remaining time, printed on rank 0.
#pragma once

#include "Base/Stopwatch.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// Prints the progress of a measurement to standard error.
class Progress
{
public:
  /// Creates a progress of 0. prints: whether this rank prints the progress.
  explicit Progress(bool prints) : Prints(prints) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Sets the range of the whole progress, 0 to 1, that the following calls of Show() cover. after: duration
  /// in seconds of the work after `to`.
  void SetRange(double from, double to, double after = 0);
  /// Prints the progress: on a terminal, at most every 0.2 s and on the same line; elsewhere, at most every 5
  /// s. The printed progress never decreases. fraction: finished fraction of the range, 0 to 1. secondsLeft:
  /// remaining time of the range. activity: the current activity, for the user.
  void Show(double fraction, double secondsLeft, const std::string& activity);

  /// Returns the greatest progress of Show() so far, as a fraction of the whole, 0 to 1; 0 if this rank does
  /// not print.
  double ShownFraction() const { return this->GreatestFraction; }

private:
  bool Prints;
  bool LineOpen = false;
  double LastPrinted = -1e9;
  double From = 0, To = 1, After = 0;
  double GreatestFraction = 0;
  Stopwatch Watch;
};

/// Returns a duration as text: "45 s", "3 min", "1.5 h".
std::string DurationText(double seconds);

/// Returns a size in binary units, because users mostly choose powers of 2: "64 KiB", "1.5 MiB".
std::string SizeText(std::uint64_t bytes);

}  // namespace patchio::probe
