// The threads that TBB gives to this process for reads, and what becomes of them when it ends.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace patchio {

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

}  // namespace patchio
