// Level two of two-level reading: the read tasks of a rank, which TBB carries out on its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace patchio {

/// Called with the finished fraction, 0..1, on the thread that waits and on no other. Returning false
/// cancels: tasks that have begun are finished, no others begin.
using ProgressCallback = std::function<bool(double)>;

/// Carries out one task, 0 <= task < number of tasks. Called by several threads at once. Where it throws, no
/// more tasks begin.
using TaskBody = std::function<void(std::size_t task)>;

/// Which tasks go first when TBB has fewer threads than are wanted.
enum class TaskPriority
{
  Read,
  Prefetch
};

/// The tasks of one read. Each is carried out exactly once; they begin in order, as many at a time as the
/// concurrency limit says. That may exceed the cores by far, as tasks wait for storage, not for arithmetic.
///
/// TBB carries them out in arenas of its threads that no other read uses at the time. So tasks of different
/// reads do not keep each other waiting, though some may hang.
///
/// The thread that owns the scheduler waits, and takes no tasks, so that it can cancel at any time. It need
/// not stay to the end: tasks that are at work when the scheduler is destroyed end by themselves and keep
/// `body` until then, with all that it owns. All methods but the destructor are thread-safe.
class IoScheduler
{
public:
  /// Begins nothing yet.
  IoScheduler(std::size_t tasks, TaskBody body, TaskPriority priority = TaskPriority::Read);
  /// Cancels, and waits for nobody.
  ~IoScheduler();
  IoScheduler(const IoScheduler&) = delete;
  IoScheduler& operator=(const IoScheduler&) = delete;

  /// From now on at most so many tasks, at least 1, are at work at once. The first call begins to work. Where
  /// TBB or the system grant fewer threads, fewer are.
  void SetLimit(int limit);
  /// The same as soon as all tasks of `before` are carried out; never when that is cancelled.
  void SetLimitAfter(IoScheduler& before, int limit);
  /// No task begins any more.
  void Cancel();
  /// True as soon as all tasks are carried out, or, after Cancel(), none is at work any more.
  bool WaitFor(std::chrono::milliseconds most) const;
  /// The calling thread carries out the next task; false when there is none left.
  bool TakeTask();
  /// Throws what a task has thrown, if one has.
  void Rethrow() const;

  bool Cancelled() const;
  /// SetLimit() was called.
  bool HasBegun() const;
  /// The most tasks that may have been at work at once so far: slots of arenas, less the calling thread.
  int Width() const;
  /// The limit when TBB or the system granted fewer threads; 0: all were granted.
  int Refused() const;
  /// Finished tasks of all tasks, 0..1.
  double Fraction() const;
  /// From SetLimit() to when the last task ended, or to now.
  double Seconds() const;

private:
  struct State;
  const std::shared_ptr<State> Shared;
};

/// How often a thread looks that waits for tasks.
constexpr std::chrono::milliseconds PollInterval(10);

/// Carries out all tasks with at most `limit` threads and waits for them. False when `progress` has cancelled
/// them. Throws what a task has thrown.
///
/// Without `progress` the calling thread is one of the threads. With it, it only waits, as a task may take
/// seconds, and calls `progress` every 10 ms; but a single thread, or what TBB refuses threads for, is the
/// calling one, and `progress` is called after each task.
bool RunTasks(std::size_t tasks, int limit, const TaskBody& body, const ProgressCallback& progress = {});

}  // namespace patchio
