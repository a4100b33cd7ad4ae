// The progress of a measurement and its remaining time, printed on rank 0.
#pragma once

#include "Base/Stopwatch.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

class Progress
{
public:
  /// speaks: whether this rank prints the progress.
  explicit Progress(bool speaks) : Speaks(speaks) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Sets the range of the whole progress, 0 to 1, that the following calls of Show() cover. after: seconds
  /// that the work after `to` will take.
  void SetRange(double from, double to, double after = 0);
  /// Prints the progress, but not at every call; on a terminal, on the same line. The printed progress never
  /// decreases. part: finished part of the range, 0 to 1. left: remaining seconds. what: the current
  /// activity.
  void Show(double part, double left, const std::string& what);

  /// Returns the progress of the last Show(), as a part of the whole, 0 to 1.
  double Shown() const { return this->Most; }

private:
  bool Speaks;
  bool LineOpen = false;
  double Last = -1e9;
  double From = 0, To = 1, After = 0;
  double Most = 0;
  Stopwatch Watch;
};

/// Returns a duration as text: "45 s", "3 min", "1.5 h".
std::string TimeText(double seconds);

/// Returns a size in binary units, because users mostly choose powers of 2: "64 KiB", "1.5 MiB".
std::string SizeText(std::uint64_t bytes);

}  // namespace patchio::probe
