// Level two of two-level reading: inside a rank, NT lanes take tasks one after another.
#pragma once

#include <cstddef>
#include <functional>

namespace patchio {

/// Called with the finished fraction, 0..1, on the thread that called RunLanes and on no other. Returning
/// false cancels: tasks already taken are finished, no new ones start.
using ProgressCallback = std::function<bool(double)>;

struct LanesOutcome
{
  int Lanes = 1;  ///< threads that took part; fewer than asked for where the system grants no more
  bool Cancelled = false;
  std::size_t Finished = 0;  ///< tasks that were carried out
};

/// Carries out body(task, lane) for each task 0 .. tasks-1 exactly once, on `lanes` threads (lane 0 is the
/// calling thread). All tasks exist at the start; lanes take them from one atomic cursor, in order, without a
/// lock. There are never more lanes than tasks. Lanes may exceed the cores: they wait for storage, not for
/// arithmetic. `body` must not throw.
LanesOutcome RunLanes(std::size_t tasks, int lanes, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback& progress = {});

}  // namespace patchio
