// A read that takes a while, for tests of automatic threads.
#pragma once

#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"
#include "Tuning/AutomaticThreads.h"

#include <chrono>
#include <thread>

namespace patchio::testing {

/// Executes the tasks with the number of threads that `control` sets, until `progress` returns false.
inline void RunControlled(std::size_t tasks, const TaskBody& body, ReadControl& control,
    const ReadMeter& meter, const std::function<bool()>& progress)
{
  IoScheduler read(tasks, body);
  read.SetLimit(control.Threads());
  while (!read.WaitFor(PollInterval)) {
    control.Update(meter);
    if (!progress()) {
      read.Cancel();
    }
    read.SetLimit(control.Threads());
  }
}

/// Collective: makes requests of 2 ms for `seconds` seconds, one after another in each thread, with windows
/// from the first second on.
inline void ReadForAWhile(AutomaticThreads& automatic, double seconds)
{
  ReadMeter meter;
  const Stopwatch watch;
  RunControlled(
      1 << 20,
      [&](std::size_t) {
        const ReadMeter::Task task(meter);
        const ReadMeter::Request request(meter, 1000);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      },
      automatic.Control(), meter, [&] { return watch.Seconds() < seconds; });
}

}  // namespace patchio::testing
