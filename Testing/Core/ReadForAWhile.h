// A read that takes a while, for tests of automatic threads.
#pragma once

#include "Io/Lanes.h"
#include "Support/Stopwatch.h"
#include "Tuning/AutomaticThreads.h"

#include <chrono>
#include <thread>

namespace patchio::testing {

/// Requests of 2 ms, one after another in each lane, with windows from the first second on. Collective, as
/// `automatic` is.
inline void ReadForAWhile(AutomaticThreads& automatic, double seconds)
{
  ReadMeter meter;
  const Stopwatch watch;
  RunLanes(
      1 << 20, automatic.Control().Goal(),
      [&](std::size_t, int) {
        const ReadMeter::Task task(meter);
        const ReadMeter::Request request(meter, 1000);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      },
      [&](double) {
        automatic.Control().Step(meter);
        return watch.Seconds() < seconds;
      });
}

}  // namespace patchio::testing
