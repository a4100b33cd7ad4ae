// How far the study is and how long it will take, from rank 0.
#pragma once

#include "Support/Stopwatch.h"

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

  /// `part`: what is done, 0 to 1; `left`: seconds still to go. Prints now and then; on a terminal always the
  /// same line.
  void Show(double part, double left, const std::string& what);

private:
  bool Speaks;
  bool LineOpen = false;
  double Last = -1e9;
  Stopwatch Watch;
};

/// "45 s", "3 min", "1.5 h".
std::string TimeText(double seconds);

/// Sizes that users choose, which mostly are powers of 2: "64 KiB", "1.5 MiB".
std::string SizeText(std::uint64_t bytes);

}  // namespace patchio::probe
