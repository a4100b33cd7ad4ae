// The progress of a measurement and the time that it will take, from rank 0.
#pragma once

#include "Base/Stopwatch.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

class Progress
{
public:
  /// Silent on ranks that shall not speak.
  explicit Progress(bool speaks) : Speaks(speaks) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What follows is this part of the whole, which else is all of it; `after`: seconds that what comes then
  /// will take.
  void SetRange(double from, double to, double after = 0);
  /// `part`: what is done, 0 to 1; `left`: seconds still to go. Prints now and then; on a terminal always the
  /// same line. The whole never goes back.
  void Show(double part, double left, const std::string& what);

  /// The part of the whole that is done, as shown last.
  double Shown() const { return this->Most; }

private:
  bool Speaks;
  bool LineOpen = false;
  double Last = -1e9;
  double From = 0, To = 1, After = 0;
  double Most = 0;
  Stopwatch Watch;
};

/// "45 s", "3 min", "1.5 h".
std::string TimeText(double seconds);

/// Sizes that users choose, which mostly are powers of 2: "64 KiB", "1.5 MiB".
std::string SizeText(std::uint64_t bytes);

}  // namespace patchio::probe
