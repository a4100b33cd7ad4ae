// Wall-clock time.
#pragma once

#include <chrono>
#include <optional>

namespace patchio {

/// Runs from its construction.
class Stopwatch
{
public:
  double Seconds() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - this->Begin).count();
  }

private:
  std::chrono::steady_clock::time_point Begin = std::chrono::steady_clock::now();
};

/// For what costs too much to be done each time that it could be.
class Pace
{
public:
  /// seconds: between two times.
  explicit Pace(double seconds) : Seconds(seconds) {}

  /// True at first, and then when that long has passed since it was true.
  bool Due()
  {
    if (this->Last && this->Last->Seconds() < this->Seconds) {
      return false;
    }
    this->Last = Stopwatch();
    return true;
  }

private:
  const double Seconds;
  std::optional<Stopwatch> Last;
};

}  // namespace patchio
