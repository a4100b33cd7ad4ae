// Level two of two-level reading: runs the read tasks of a rank on threads of TBB, and determines how many
// threads TBB provides for reads in this process.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace patchio {

/// Greatest number of TBB threads for reads in a process: enough for several reads of 256 hanging tasks and
/// one more read. TBB allocates about 200 bytes for each thread, used or not.
constexpr int MostIoThreads = 4096;

/// Receives the finished fraction, 0..1, on the waiting thread only. If the callback returns false, the work
/// is cancelled: running tasks finish, and no further tasks begin.
using ProgressCallback = std::function<bool(double)>;

/// Carries out one task, 0 <= task < number of tasks. Several threads call the body concurrently. If the body
/// throws, no more tasks begin.
using TaskBody = std::function<void(std::size_t task)>;

/// The priority of tasks when TBB has fewer threads than requested.
enum class TaskPriority
{
  Read,
  Prefetch
};

/// Runs each task of one read exactly once, unless the read is cancelled or a task throws. Tasks begin in the
/// order of their numbers, and at most as many run at once as the limit allows. The limit may exceed the
/// number of cores by far, because tasks wait for storage.
///
/// Tasks run in TBB arenas that no other read uses at the same time. Tasks of different reads therefore do
/// not block each other, even if some hang.
///
/// The thread that owns the scheduler carries out tasks only in RunNextTask(), so it can cancel at any time
/// and need not wait for the end: tasks that are running when the scheduler is destroyed end by themselves,
/// and keep `body` alive until then. All methods but the destructor are thread-safe.
class IoScheduler
{
public:
  /// Prepares the tasks. SetLimit() starts the tasks.
  IoScheduler(std::size_t tasks, TaskBody body, TaskPriority priority = TaskPriority::Read);
  /// Cancels without waiting for running tasks.
  ~IoScheduler();
  IoScheduler(const IoScheduler&) = delete;
  IoScheduler& operator=(const IoScheduler&) = delete;

  /// Sets the greatest number of concurrent tasks, at least 1. The first call starts the tasks. Fewer tasks
  /// run at once if TBB or the system refuses threads, or if the process is ending; later calls then add no
  /// threads.
  void SetLimit(int limit);
  /// Calls SetLimit(limit) when all tasks of `previous` are finished; never if a task of `previous` throws,
  /// or if Cancel() keeps a task of `previous` from beginning.
  void SetLimitAfter(IoScheduler& previous, int limit);
  /// Prevents further tasks from beginning.
  void Cancel();
  /// Waits, for at most `most`, until all tasks are finished or, after Cancel(), no task is running. Returns
  /// false if the time has passed before.
  bool WaitFor(std::chrono::milliseconds most) const;
  /// Carries out the next task on the calling thread, in addition to the limit. Returns false if no task is
  /// left or the read is cancelled.
  bool RunNextTask();
  /// Rethrows the first exception of a task, if a task has thrown.
  void Rethrow() const;

  bool Cancelled() const;
  /// Returns whether SetLimit() was called.
  bool HasBegun() const;
  /// Returns the greatest number of TBB threads that this read has had at once so far, without the calling
  /// thread.
  int PeakConcurrency() const;
  /// Returns the limit for which TBB or the system refused some threads; 0 if no threads were refused.
  int RefusedLimit() const;
  /// Returns the fraction of tasks that are finished, 0..1.
  double Fraction() const;
  /// Returns the seconds from the first SetLimit(), or from the construction before that call, to the end of
  /// the last task, or until now if tasks remain.
  double Seconds() const;

private:
  struct State;
  const std::shared_ptr<State> Shared;
};

/// Interval at which a waiting thread checks tasks and reports progress.
constexpr std::chrono::milliseconds PollInterval(10);

/// Carries out all tasks with at most `limit` threads and waits for them. Returns false if `progress`
/// cancelled them. Rethrows the first exception of a task.
///
/// Without `progress` the calling thread carries out tasks, too. With `progress` the calling thread only
/// waits, because a task may take seconds, and calls `progress` every 10 ms. If there is one task, the limit
/// is 1, or TBB provides no threads, the calling thread carries out all tasks and calls `progress` after each
/// task.
bool RunTasks(std::size_t tasks, int limit, const TaskBody& body, const ProgressCallback& progress = {});

/// Carries out work(task) for all tasks, even if some fail. Then throws Error with the message of the first
/// failure, if a task has failed.
template <typename Work>
void RunTasksOrThrow(std::size_t tasks, int limit, Work work)
{
  std::mutex lock;
  std::string fault;
  RunTasks(tasks, limit, [&](std::size_t task) {
    const std::string problem = CatchError([&] { work(task); });
    const std::lock_guard<std::mutex> guard(lock);
    fault = fault.empty() ? problem : fault;
  });
  ThrowFault(fault);
}

}  // namespace patchio
