// Level two of two-level reading: inside a rank, NT lanes take tasks one after another.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace patchio {

/// Called with the finished fraction, 0..1, on the thread that called RunLanes and on no other. Returning
/// false cancels: tasks already taken are finished, no new ones start.
using ProgressCallback = std::function<bool(double)>;

/// How many lanes shall work at once. May be set by any thread while they do.
class LaneGoal
{
public:
  /// lanes: to begin with; most: what Set() cannot exceed. Less than 1 counts as 1.
  LaneGoal(int lanes, int most);
  explicit LaneGoal(int lanes) : LaneGoal(lanes, lanes) {}

  void Set(int lanes);
  int Lanes() const { return this->Wanted.load(std::memory_order_relaxed); }
  int Most() const { return this->Limit; }

private:
  int Limit;
  std::atomic<int> Wanted;
};

struct LanesOutcome
{
  int Lanes =
      1;  ///< threads that took part, at most at once; fewer than asked for where the system grants no more
  bool Cancelled = false;
  std::size_t Finished = 0;  ///< tasks that were carried out
};

/// Carries out body(task, lane) for each task 0 .. tasks-1 exactly once, on `lanes` threads (lane 0 is the
/// calling thread). All tasks exist at the start; lanes take them from one atomic cursor, in order, without a
/// lock. There are never more lanes than tasks. Lanes may exceed the cores: they wait for storage, not for
/// arithmetic. `body` must not throw. progress: called whenever the calling thread has finished a task.
LanesOutcome RunLanes(std::size_t tasks, int lanes, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback& progress = {});

/// The same with as many lanes as `goal` says from moment to moment, below goal.Most(). A lower goal lets
/// lanes retire after the task at hand; a higher one starts lanes. The calling thread takes no tasks, as some
/// take seconds: it calls `progress` every 10 ms and starts lanes. (It works alone where the system grants no
/// other thread.)
LanesOutcome RunLanes(std::size_t tasks, const LaneGoal& goal,
    const std::function<void(std::size_t, int)>& body, const ProgressCallback& progress = {});

}  // namespace patchio
