// Wall-clock time.
#pragma once

#include <chrono>

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

}  // namespace patchio
