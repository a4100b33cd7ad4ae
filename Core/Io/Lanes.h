// Level two of two-level reading: inside a rank, NT lanes take tasks one after another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace patchio {

/// Called with the finished fraction, 0..1, on the thread that called RunLanes and on no other. Returning
/// false cancels: tasks already taken are finished, no new ones start.
using ProgressCallback = std::function<bool(double)>;

/// Carries out one task, on one lane; must not throw. Called by several lanes at once.
using LaneBody = std::function<void(std::size_t task, int lane)>;

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

/// Lanes that carry out body(task, lane) for each task 0 .. tasks-1 exactly once, by themselves: all tasks
/// exist at the start, and lanes take them from one atomic cursor, in order, without a lock. There are never
/// more lanes than tasks; they may exceed the cores, as they wait for storage, not for arithmetic. Each is a
/// thread of its own (ThreadPool), so that teams do not keep each other waiting.
///
/// One thread owns the team and looks on. It need not stay to the end: lanes that are at work when the team
/// is cancelled and destroyed finish the task at hand by themselves and keep `body` until then, with all that
/// it owns.
class LaneTeam
{
public:
  /// Starts no lane yet. whenDone: called, by the lane that ends last and at most once, when all tasks are
  /// carried out; must not throw.
  LaneTeam(std::size_t tasks, int most, LaneBody body, std::function<void()> whenDone = {});
  /// Cancels, and waits for nobody.
  ~LaneTeam();
  LaneTeam(const LaneTeam&) = delete;
  LaneTeam& operator=(const LaneTeam&) = delete;

  /// From now on so many lanes work: others are started, or retire after the task at hand. Where the system
  /// grants fewer threads, there are fewer.
  void SetLanes(int lanes);
  /// Lanes that were started so far.
  int Lanes() const { return this->Started; }
  /// Lanes that were asked for when the system granted no more; 0: it granted all that were started.
  int RefusedLanes() const { return this->Refused; }

  /// True as soon as no lane is at work any more: everything is done, or the rest cancelled.
  bool WaitFor(std::chrono::milliseconds most);
  void Wait();
  /// No task is begun any more.
  void Cancel();
  /// The calling thread takes a task as lane 0, when SetLanes() does not start that one; false when there is
  /// none left.
  bool TakeTask();
  /// With the calling thread as lane 0. Before the first SetLanes().
  void TakePart() { this->Started = 1; }

  LanesOutcome Outcome() const;
  /// Finished tasks of all tasks, 0..1.
  double Fraction() const;
  /// From the beginning to when the last lane ended, or to now.
  double Seconds() const;

private:
  struct Shared;

  const std::shared_ptr<Shared> State;
  int Most;         ///< by tasks and by what the system grants
  int Started = 0;  ///< lanes, at work or waiting
  int Refused = 0;  ///< see RefusedLanes()
};

/// How often a thread looks on that has nothing else to do.
constexpr std::chrono::milliseconds LookOnInterval(10);

/// Lets `lanes` threads (lane 0 is the calling thread) carry out all tasks, and returns when they have.
/// progress: called whenever the calling thread has finished a task.
LanesOutcome RunLanes(
    std::size_t tasks, int lanes, const LaneBody& body, const ProgressCallback& progress = {});

/// The same with as many lanes as `goal` says from moment to moment, below goal.Most(). The calling thread
/// takes no tasks, as some take seconds: it calls `progress` every 10 ms. (It works alone where there is one
/// task only, or the system grants no other thread.)
LanesOutcome RunLanes(
    std::size_t tasks, const LaneGoal& goal, const LaneBody& body, const ProgressCallback& progress = {});

}  // namespace patchio
