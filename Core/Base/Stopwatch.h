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
class RateLimiter
{
public:
  /// Sets the least time between two actions.
  explicit RateLimiter(double seconds) : Seconds(seconds) {}

  /// Returns whether the action may be done now: in the first call, and again when `Seconds` have passed
  /// since the last call that returned true.
  bool TryAcquire()
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
