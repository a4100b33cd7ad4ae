// Wall-clock time.
#pragma once

#include <chrono>
#include <optional>

namespace patchio {

/// Measures wall-clock time since its construction.
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

/// Limits how often an expensive action is done.
class Pace
{
public:
  /// seconds: least time between two actions.
  explicit Pace(double seconds) : Seconds(seconds) {}

  /// Returns true in the first call, and then whenever `seconds` have passed since it last returned true.
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
