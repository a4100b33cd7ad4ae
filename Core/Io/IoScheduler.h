// Level two of two-level reading: the read tasks of a rank on threads of TBB, and the threads that TBB gives
// to this process for reads.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// The threads that TBB gives to this process for reads, and what becomes of them when it ends.
enum class TaskPriority;

/// Reads wait for storage, so they need many more threads than there are cores. TBB fixes how many it will
/// ever start when somebody in the process uses it first, and it aborts the process when the system refuses a
/// thread. So PatchIO asks TBB for MostThreads as soon as it is loaded, finds out before a read what TBB and
/// the system really grant, and never wants more than that. Thread-safe.
class IoThreads
{
public:
  /// Enough for several reads of 256 tasks that hang, and one more beside them. TBB takes about 200 bytes for
  /// each thread, needed or not.
  static constexpr int MostThreads = 4096;
  /// A process that ends waits at most so long for tasks that are at work.
  static constexpr std::chrono::seconds ExitGrace{2};

  /// An arena of TBB for one task at a time. In a wider one a task that hangs would cost other arenas a
  /// thread: when its neighbours find no more work, TBB takes the arena as a whole for idle and counts the
  /// thread as free.
  struct Slot
  {
    explicit Slot(TaskPriority priority);
    /// Has TBB do the work, which ends with GiveBack(), on one of its threads.
    void Enqueue(std::function<void()> work);

    const TaskPriority Priority;

  private:
    void CarryOut();

    tbb::task_arena Arena;
    std::function<void()> Work;
  };

  static IoThreads& OfProcess();

  /// So many slots, from none to `wanted`, to be used until they are given back. Fewer where another user of
  /// TBB has fixed a lower limit, or where the system refuses threads (ulimit, cgroup, memory).
  std::vector<Slot*> Take(int wanted, TaskPriority priority);
  /// By the task itself, as the last thing that it does.
  void GiveBack(Slot* slot);
  /// One that no task was given to.
  void PutBack(Slot* slot);

  /// The process ends: no more tasks shall begin.
  bool Ends() const { return this->Ending.load(std::memory_order_relaxed); }

private:
  IoThreads();
  int MostOfSystem(int threads);
  void LimitTbb(int threads);
  void EndOfProcess();

  std::unique_ptr<tbb::global_control> Limit;
  tbb::task_scheduler_handle Handle;  ///< keeps threads alive between reads
  std::mutex Mutex;
  std::condition_variable Change;
  std::deque<Slot> Slots;
  std::vector<Slot*> Free[2];  ///< by priority
  int InUse = 0;
  bool Refused = false;  ///< by the system, when it was asked last
  int Proven = 0;        ///< threads that the system granted all together, at ProvenAt
  std::chrono::steady_clock::time_point ProvenAt;
  std::atomic<int> Seen{0};  ///< threads of TBB that have carried out a task; they live on
  std::atomic<bool> Ending{false};
};

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

/// Carries out work(task) for all tasks, also when one has failed; then throws Error with what the first one
/// to fail has thrown.
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
  if (!fault.empty()) {
    throw Error(fault);
  }
}

}  // namespace patchio
